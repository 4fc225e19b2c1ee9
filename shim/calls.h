/*
 * The next definition of every wrapped call, and the MPI calls that the library makes for itself.
 *
 * next.MPI_X is what the program would have reached without us: the next preloaded profiler, or
 * MPI. Exactly one of them is called for each call of the program that is passed on, so that
 * profilers below us count right. What the library does for itself goes to pmpi.X and is seen by
 * no profiler. beneath.MPI_X is the next definition of PMPI_X, for the PMPI_ calls of MPI itself
 * and of the profilers below us. The tables are filled at the first MPI call, whichever it is, so a
 * process that never calls MPI pays nothing; until then the entries of next fill them and go on.
 */
#ifndef SHIM_CALLS_H
#define SHIM_CALLS_H

#include <stdbool.h>

#include "shim/mpi_header.h"

struct calls_next {
#define EACH(kind, name, base, large, body, formals, ...) int(*name) formals;
#include "shim/calls_each.h"
};
extern struct calls_next next, beneath;

/*
 * call_MPI_Send(large, ...): the call in its int or its large-count form. A count given with large
 * = false fits an int, since an int is what the program gave.
 */
#define CALLS_OPEN(...) __VA_ARGS__
#define COUNT MPI_Count
#define START(...)
#define CALL(...)
#define TYPE(...)
#define TYPE_COUNTED(...)
#define COMM(...)
#define SYNC(...)
#define SYNC_COUNTED(...)
#if MPI_VERSION >= 4
#define COUNTED(name, body, formals, ...)                                                          \
    static inline int call_##name(bool large, CALLS_OPEN formals)                                  \
    {                                                                                              \
        return large ? next.name##_c(__VA_ARGS__) : next.name(__VA_ARGS__);                        \
    }
#else
#define COUNTED(name, body, formals, ...)                                                          \
    static inline int call_##name(bool large, CALLS_OPEN formals)                                  \
    {                                                                                              \
        return next.name(__VA_ARGS__);                                                             \
    }
#endif
#define SEND COUNTED
#define RECV COUNTED
#include "shim/mpi_calls.def"
#undef SEND
#undef RECV
#undef COUNT
#undef START
#undef CALL
#undef COUNTED
#undef TYPE
#undef TYPE_COUNTED
#undef COMM
#undef SYNC
#undef SYNC_COUNTED

/* The MPI calls the library makes for itself, by name without MPI_. */
#define CALLS_OWN(X)                                                                               \
    X(Abort)                                                                                       \
    X(Add_error_class)                                                                             \
    X(Add_error_code)                                                                              \
    X(Add_error_string)                                                                            \
    X(Allgather)                                                                                   \
    X(Allreduce)                                                                                   \
    X(Bcast)                                                                                       \
    X(Comm_call_errhandler)                                                                        \
    X(Comm_create_group)                                                                           \
    X(Comm_create_keyval)                                                                          \
    X(Comm_free)                                                                                   \
    X(Comm_free_keyval)                                                                            \
    X(Comm_get_errhandler)                                                                         \
    X(Comm_group)                                                                                  \
    X(Comm_rank)                                                                                   \
    X(Comm_remote_group)                                                                           \
    X(Comm_set_attr)                                                                               \
    X(Comm_set_errhandler)                                                                         \
    X(Comm_size)                                                                                   \
    X(Comm_split_type)                                                                             \
    X(Comm_test_inter)                                                                             \
    X(Errhandler_free)                                                                             \
    X(Gather)                                                                                      \
    X(Group_free)                                                                                  \
    X(Group_incl)                                                                                  \
    X(Group_size)                                                                                  \
    X(Group_translate_ranks)                                                                       \
    X(Imrecv)                                                                                      \
    X(Improbe)                                                                                     \
    X(Iprobe)                                                                                      \
    X(Isend)                                                                                       \
    X(Initialized)                                                                                 \
    X(Error_class)                                                                                 \
    X(Finalized)                                                                                   \
    X(Mrecv)                                                                                       \
    X(Pack)                                                                                        \
    X(Query_thread)                                                                                \
    X(Recv)                                                                                        \
    X(Reduce)                                                                                      \
    X(Request_free)                                                                                \
    X(Request_get_status)                                                                          \
    X(Send)                                                                                        \
    X(Sendrecv)                                                                                    \
    X(Test)                                                                                        \
    X(Test_cancelled)                                                                              \
    X(Type_commit)                                                                                 \
    X(Type_contiguous)                                                                             \
    X(Type_create_hindexed_block)                                                                  \
    X(Type_create_struct)                                                                          \
    X(Type_free)                                                                                   \
    X(Type_get_contents)                                                                           \
    X(Type_get_envelope)                                                                           \
    X(Type_get_extent_x)                                                                           \
    X(Type_size_x)                                                                                 \
    X(Unpack)                                                                                      \
    X(Wait)

/*
 * Large-count forms; those of queries alone can look into a type that a large-count constructor
 * made.
 */
#if MPI_VERSION >= 4
#define CALLS_OWN_LARGE(X)                                                                         \
    X(Imrecv_c)                                                                                    \
    X(Isend_c)                                                                                     \
    X(Mrecv_c)                                                                                     \
    X(Pack_c)                                                                                      \
    X(Type_get_contents_c)                                                                         \
    X(Type_get_envelope_c)                                                                         \
    X(Unpack_c)
#else
#define CALLS_OWN_LARGE(X)
#endif

struct calls_own {
#define X(name) __typeof__(PMPI_##name) *name;
    CALLS_OWN(X)
    CALLS_OWN_LARGE(X)
#undef X
};
extern struct calls_own pmpi;

/*
 * Fills the tables; needs to be called only before pmpi or beneath is used ahead of any wrapped
 * call. A call that this MPI library lacks gets an entry that reports it and returns MPI_ERR_OTHER.
 * Ends the process, with one sentence, where the MPI library in memory is not the kind that this
 * library was built for. Safe from several threads.
 */
void calls_resolve(void);

#endif
