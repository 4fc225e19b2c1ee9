/*
 * The floating-point environment of the codecs: rounding to nearest, subnormals kept, whatever the
 * calling thread has, which gets its own back.
 */
#ifndef TAH_ENVIRONMENT_H
#define TAH_ENVIRONMENT_H

#include <fenv.h>

typedef fenv_t environment_t;

static inline void environment_enter(environment_t *own)
{
    fegetenv(own);
    fesetenv(FE_DFL_ENV);
}

static inline void environment_leave(const environment_t *own)
{
    fesetenv(own);
}

#endif
