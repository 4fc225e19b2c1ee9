/*
 * mpi.h, for all of the library. In Open MPI a predefined handle is the address of an object in
 * libmpi. A library that refers to those objects cannot be loaded where there is no MPI, and would
 * never find them where MPI is loaded later, into a scope of its own. So they are looked up like
 * the calls are (calls.c), and here take the place of the addresses.
 */
#ifndef SHIM_MPI_HEADER_H
#define SHIM_MPI_HEADER_H

/*
 * Constructors of MPI-1 that old binaries still call: Open MPI has them, and hides them by default.
 */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0

#include <mpi.h>

#ifdef OPEN_MPI
#define MPI_HEADER_OBJECTS(X)                                                                      \
    X(ompi_message_null)                                                                           \
    X(ompi_mpi_aint)                                                                               \
    X(ompi_mpi_byte)                                                                               \
    X(ompi_mpi_c_double_complex)                                                                   \
    X(ompi_mpi_c_float_complex)                                                                    \
    X(ompi_mpi_char)                                                                               \
    X(ompi_mpi_character)                                                                          \
    X(ompi_mpi_comm_null)                                                                          \
    X(ompi_mpi_comm_self)                                                                          \
    X(ompi_mpi_comm_world)                                                                         \
    X(ompi_mpi_complex16)                                                                          \
    X(ompi_mpi_complex8)                                                                           \
    X(ompi_mpi_count)                                                                              \
    X(ompi_mpi_cplex)                                                                              \
    X(ompi_mpi_datatype_null)                                                                      \
    X(ompi_mpi_dblcplex)                                                                           \
    X(ompi_mpi_dblprec)                                                                            \
    X(ompi_mpi_double)                                                                             \
    X(ompi_mpi_float)                                                                              \
    X(ompi_mpi_group_null)                                                                         \
    X(ompi_mpi_info_null)                                                                          \
    X(ompi_mpi_int)                                                                                \
    X(ompi_mpi_int16_t)                                                                            \
    X(ompi_mpi_int32_t)                                                                            \
    X(ompi_mpi_int64_t)                                                                            \
    X(ompi_mpi_int8_t)                                                                             \
    X(ompi_mpi_integer)                                                                            \
    X(ompi_mpi_integer1)                                                                           \
    X(ompi_mpi_integer2)                                                                           \
    X(ompi_mpi_integer4)                                                                           \
    X(ompi_mpi_integer8)                                                                           \
    X(ompi_mpi_long)                                                                               \
    X(ompi_mpi_long_long_int)                                                                      \
    X(ompi_mpi_offset)                                                                             \
    X(ompi_mpi_op_max)                                                                             \
    X(ompi_mpi_op_min)                                                                             \
    X(ompi_mpi_op_sum)                                                                             \
    X(ompi_mpi_packed)                                                                             \
    X(ompi_mpi_real)                                                                               \
    X(ompi_mpi_real4)                                                                              \
    X(ompi_mpi_real8)                                                                              \
    X(ompi_mpi_short)                                                                              \
    X(ompi_mpi_signed_char)                                                                        \
    X(ompi_mpi_uint16_t)                                                                           \
    X(ompi_mpi_uint32_t)                                                                           \
    X(ompi_mpi_uint64_t)                                                                           \
    X(ompi_mpi_uint8_t)                                                                            \
    X(ompi_mpi_unsigned)                                                                           \
    X(ompi_mpi_unsigned_char)                                                                      \
    X(ompi_mpi_unsigned_long)                                                                      \
    X(ompi_mpi_unsigned_long_long)                                                                 \
    X(ompi_mpi_unsigned_short)                                                                     \
    X(ompi_mpi_wchar)                                                                              \
    X(ompi_request_null)

struct mpi_header_objects {
#define X(name) void *name;
    MPI_HEADER_OBJECTS(X)
#undef X
};
extern struct mpi_header_objects mpi_header_objects;

#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)mpi_header_objects.global)
#endif

#endif
