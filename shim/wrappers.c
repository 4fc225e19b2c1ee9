/*
 * The exported MPI calls, made from the table. Each costs one comparison more than the call itself
 * while the library is not active. Each is exported by its MPI_ and its PMPI_ name.
 */
#include "config.h"

#include "shim/caller.h"
#include "shim/calls.h"
#include "shim/stash.h"
#include "shim/types.h"
#include "shim/wrap.h"

#define EACH_START(name, base, large, body, formals, ...)                                          \
    static int taken_##name formals                                                                \
    {                                                                                              \
        return wrap_##body(__VA_ARGS__);                                                           \
    }

#define EACH_CALL(name, base, large, body, formals, ...)                                           \
    static int taken_##name formals                                                                \
    {                                                                                              \
        return LIKELY(!shim.active) ? next.name(__VA_ARGS__) : wrap_##body(__VA_ARGS__);           \
    }

#define EACH_COUNTED(name, base, large, body, formals, ...)                                        \
    static int taken_##name formals                                                                \
    {                                                                                              \
        return LIKELY(!shim.active) ? next.name(__VA_ARGS__)                                       \
                                    : wrap_##body(call_##base, large, __VA_ARGS__);                \
    }

#define EACH_UNLESS(idle, name, base, large, body, formals, ...)                                   \
    static int taken_##name formals                                                                \
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
    static int taken_##name formals                                                                \
    {                                                                                              \
        int rc = next.name(__VA_ARGS__);                                                           \
        if (UNLIKELY(shim.active) && rc == MPI_SUCCESS)                                            \
            types_learn(*newtype);                                                                 \
        return rc;                                                                                 \
    }

#define EACH_COMM(name, base, large, body, formals, ...)                                           \
    static int taken_##name formals                                                                \
    {                                                                                              \
        int rc = next.name(__VA_ARGS__);                                                           \
        if (LIKELY(!shim.active))                                                                  \
            return rc;                                                                             \
        if (rc == MPI_SUCCESS)                                                                     \
            wrap_learn_comm(*newcomm);                                                             \
        return wrap_done(rc);                                                                      \
    }

#define EACH_SYNC(name, base, large, body, formals, ...)                                           \
    static int taken_##name formals                                                                \
    {                                                                                              \
        int rc = next.name(__VA_ARGS__);                                                           \
        return LIKELY(!shim.active) ? rc : wrap_done(rc);                                          \
    }

#define EACH(kind, name, base, large, body, formals, ...)                                          \
    EACH_##kind(name, base, large, body, formals, __VA_ARGS__)
#include "shim/calls_each.h"

#define WRAPPER_EXPORT __attribute__((visibility("default")))

/* MPI_X is taken_MPI_X, not a call of it. */
#define EACH(kind, name, base, large, body, formals, ...)                                          \
    extern __typeof__(taken_##name) name __attribute__((alias("taken_" #name))) WRAPPER_EXPORT;
#include "shim/calls_each.h"

#define EACH(kind, name, base, large, body, formals, ...)                                          \
    WRAPPER_EXPORT int P##name formals                                                             \
    {                                                                                              \
        calls_resolve();                                                                           \
        return caller_is_beneath(__builtin_return_address(0)) ? beneath.name(__VA_ARGS__)          \
                                                              : taken_##name(__VA_ARGS__);         \
    }
#include "shim/calls_each.h"
