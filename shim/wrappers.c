/*
 * The exported MPI calls, made from the table. Each costs one comparison more than the call itself
 * while the library is not active.
 */
#include "config.h"

#include "shim/calls.h"
#include "shim/stash.h"
#include "shim/types.h"
#include "shim/wrap.h"

#define WRAPPER_EXPORT __attribute__((visibility("default")))

#define EACH_START(name, base, large, body, formals, ...)                                          \
    WRAPPER_EXPORT int name formals                                                                \
    {                                                                                              \
        return wrap_##body(__VA_ARGS__);                                                           \
    }

#define EACH_CALL(name, base, large, body, formals, ...)                                           \
    WRAPPER_EXPORT int name formals                                                                \
    {                                                                                              \
        return LIKELY(!shim.active) ? next.name(__VA_ARGS__) : wrap_##body(__VA_ARGS__);           \
    }

#define EACH_COUNTED(name, base, large, body, formals, ...)                                        \
    WRAPPER_EXPORT int name formals                                                                \
    {                                                                                              \
        return LIKELY(!shim.active) ? next.name(__VA_ARGS__)                                       \
                                    : wrap_##body(call_##base, large, __VA_ARGS__);                \
    }

#define EACH_UNLESS(idle, name, base, large, body, formals, ...)                                   \
    WRAPPER_EXPORT int name formals                                                                \
    {                                                                                              \
        if (LIKELY(!shim.active))                                                                  \
            return next.name(__VA_ARGS__);                                                         \
        if (LIKELY(idle))                                                                          \
            return wrap_done(next.name(__VA_ARGS__));                                              \
        return wrap_##body(call_##base, large, __VA_ARGS__);                                       \
    }

#define EACH_SEND(name, base, large, body, formals, ...)                                           \
    EACH_UNLESS(message_is_small(count, datatype), name, base, large, body, formals, __VA_ARGS__)

#define EACH_RECV(name, base, large, body, formals, ...)                                           \
    EACH_UNLESS(stash_is_idle() && message_fits_no_frame(count, datatype), name, base, large,      \
                body, formals, __VA_ARGS__)

#define EACH_TYPE(name, base, large, body, formals, ...)                                           \
    WRAPPER_EXPORT int name formals                                                                \
    {                                                                                              \
        int rc = next.name(__VA_ARGS__);                                                           \
        if (UNLIKELY(shim.active) && rc == MPI_SUCCESS)                                            \
            types_learn(*newtype);                                                                 \
        return rc;                                                                                 \
    }

#define EACH_COMM(name, base, large, body, formals, ...)                                           \
    WRAPPER_EXPORT int name formals                                                                \
    {                                                                                              \
        int rc = next.name(__VA_ARGS__);                                                           \
        if (LIKELY(!shim.active))                                                                  \
            return rc;                                                                             \
        if (rc == MPI_SUCCESS)                                                                     \
            wrap_learn_comm(*newcomm);                                                             \
        return wrap_done(rc);                                                                      \
    }

#define EACH_SYNC(name, base, large, body, formals, ...)                                           \
    WRAPPER_EXPORT int name formals                                                                \
    {                                                                                              \
        int rc = next.name(__VA_ARGS__);                                                           \
        return LIKELY(!shim.active) ? rc : wrap_done(rc);                                          \
    }

#define EACH(kind, name, base, large, body, formals, ...)                                          \
    EACH_##kind(name, base, large, body, formals, __VA_ARGS__)
#include "shim/calls_each.h"
