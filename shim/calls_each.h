/*
 * Expands EACH(kind, name, base, large, body, (formals), actuals...) for every wrapped call: first
 * those with int counts, then the large-count ones, where the MPI has them. base is the name
 * without _c. Undefines EACH. Has no include guard: it is included once for each expansion.
 */
#define COUNT int
#define DISPL int
#define OFFSET MPI_Aint
#define START(name, body, formals, ...)                                                            \
    EACH(START, name, name, false, body, formals __VA_OPT__(, ) __VA_ARGS__)
#define CALL(name, body, formals, ...) EACH(CALL, name, name, false, body, formals, __VA_ARGS__)
#define COUNTED(name, body, formals, ...)                                                          \
    EACH(COUNTED, name, name, false, body, formals, __VA_ARGS__)
#define SEND(name, body, formals, ...) EACH(SEND, name, name, false, body, formals, __VA_ARGS__)
#define RECV(name, body, formals, ...) EACH(RECV, name, name, false, body, formals, __VA_ARGS__)
#define TYPE(name, formals, ...) EACH(TYPE, name, name, false, none, formals, __VA_ARGS__)
#define TYPE_COUNTED TYPE
#define COMM(name, formals, ...) EACH(COMM, name, name, false, none, formals, __VA_ARGS__)
#define SYNC(name, formals, ...) EACH(SYNC, name, name, false, none, formals, __VA_ARGS__)
#define SYNC_COUNTED SYNC
#include "shim/mpi_calls.def"
#undef COUNT
#undef DISPL
#undef OFFSET
#undef START
#undef CALL
#undef COUNTED
#undef SEND
#undef RECV
#undef TYPE
#undef TYPE_COUNTED
#undef COMM
#undef SYNC
#undef SYNC_COUNTED

#if MPI_VERSION >= 4
#define COUNT MPI_Count
#define DISPL MPI_Aint
#define OFFSET MPI_Count
#define START(...)
#define CALL(...)
#define TYPE(...)
#define COMM(...)
#define SYNC(...)
#define COUNTED(name, body, formals, ...)                                                          \
    EACH(COUNTED, name##_c, name, true, body, formals, __VA_ARGS__)
#define SEND(name, body, formals, ...) EACH(SEND, name##_c, name, true, body, formals, __VA_ARGS__)
#define RECV(name, body, formals, ...) EACH(RECV, name##_c, name, true, body, formals, __VA_ARGS__)
#define TYPE_COUNTED(name, formals, ...)                                                           \
    EACH(TYPE, name##_c, name, true, none, formals, __VA_ARGS__)
#define SYNC_COUNTED(name, formals, ...)                                                           \
    EACH(SYNC, name##_c, name, true, none, formals, __VA_ARGS__)
#include "shim/mpi_calls.def"
#undef COUNT
#undef DISPL
#undef OFFSET
#undef START
#undef CALL
#undef COUNTED
#undef SEND
#undef RECV
#undef TYPE
#undef TYPE_COUNTED
#undef COMM
#undef SYNC
#undef SYNC_COUNTED
#endif
#undef EACH
