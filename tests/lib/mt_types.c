/* Derived types of floats. Layouts are made and read back by MPI_Pack and MPI_Unpack. */
#include "tests/lib/mt_types.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/mt_internal.h"

enum { ANCHOR = 256 }; /* bytes before the first instance, for negative lower bounds */

static MPI_Datatype commit(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return type;
}

/* A type made from another one, which is freed. */
static MPI_Datatype wrapped(MPI_Datatype inner, MPI_Datatype outer)
{
    MPI_Type_free(&inner);
    return commit(outer);
}

static MPI_Datatype make_float(void)
{
    MPI_Datatype type;
    MPI_Type_dup(MPI_FLOAT, &type);
    return commit(type);
}

static MPI_Datatype make_contiguous(void)
{
    MPI_Datatype inner, outer;
    MPI_Type_contiguous(3, MPI_FLOAT, &inner);
    MPI_Type_contiguous(4, inner, &outer);
    return wrapped(inner, outer);
}

static MPI_Datatype make_dup_of_contiguous(void)
{
    MPI_Datatype inner = make_contiguous(), outer;
    MPI_Type_dup(inner, &outer);
    return wrapped(inner, outer);
}

static MPI_Datatype make_vector(void)
{
    MPI_Datatype type;
    MPI_Type_vector(8, 4, 6, MPI_FLOAT, &type);
    return commit(type);
}

/* Blocks that are only 17 bytes apart: floats at any alignment. */
static MPI_Datatype make_hvector(void)
{
    MPI_Datatype type;
    MPI_Type_create_hvector(8, 3, 17, MPI_FLOAT, &type);
    return commit(type);
}

/* Blocks side by side: no gap, though it is called a vector. */
static MPI_Datatype make_dense_vector(void)
{
    MPI_Datatype type;
    MPI_Type_vector(6, 4, 4, MPI_FLOAT, &type);
    return commit(type);
}

static MPI_Datatype make_indexed(void)
{
    int lengths[3] = {3, 1, 4}, places[3] = {5, 0, 9};
    MPI_Datatype type;
    MPI_Type_indexed(3, lengths, places, MPI_FLOAT, &type);
    return commit(type);
}

/* As large as its floats, yet not contiguous: their order is changed. */
static MPI_Datatype make_permuted(void)
{
    int places[4] = {3, 1, 2, 0};
    MPI_Datatype type;
    MPI_Type_create_indexed_block(4, 1, places, MPI_FLOAT, &type);
    return commit(type);
}

static MPI_Datatype make_hindexed(void)
{
    int lengths[3] = {2, 5, 1};
    MPI_Aint places[3] = {-40, 8, 33};
    MPI_Datatype type;
    MPI_Type_create_hindexed(3, lengths, places, MPI_FLOAT, &type);
    return commit(type);
}

static MPI_Datatype make_subarray(void)
{
    int sizes[3] = {4, 5, 6}, parts[3] = {2, 3, 4}, starts[3] = {1, 1, 2};
    MPI_Datatype type;
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_FLOAT, &type);
    return commit(type);
}

static MPI_Datatype make_fortran_subarray(void)
{
    int sizes[2] = {7, 9}, parts[2] = {3, 5}, starts[2] = {2, 3};
    MPI_Datatype type;
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_FLOAT, &type);
    return commit(type);
}

/* A struct of floats only, one member a contiguous type. */
static MPI_Datatype make_struct(void)
{
    MPI_Datatype inner, outer;
    MPI_Type_contiguous(5, MPI_FLOAT, &inner);
    int lengths[3] = {1, 2, 1};
    MPI_Aint places[3] = {0, 8, 64};
    MPI_Datatype types[3] = {MPI_FLOAT, inner, MPI_FLOAT};
    MPI_Type_create_struct(3, lengths, places, types, &outer);
    return wrapped(inner, outer);
}

static MPI_Datatype make_negative(void)
{
    MPI_Datatype inner = make_vector(), outer;
    MPI_Type_create_resized(inner, -12, 230, &outer);
    return wrapped(inner, outer);
}

/* One float in every twelve bytes. */
static MPI_Datatype make_sparse(void)
{
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_FLOAT, 0, 12, &type);
    return commit(type);
}

/* Resized to what it is anyway. */
static MPI_Datatype make_same_size(void)
{
    MPI_Datatype inner = make_contiguous(), outer;
    MPI_Type_create_resized(inner, 0, 48, &outer);
    return wrapped(inner, outer);
}

static MPI_Datatype make_distributed(void)
{
    int sizes[2] = {8, 6}, how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {2, 1};
    MPI_Datatype type;
    MPI_Type_create_darray(2, 1, 2, sizes, how, arguments, grid, MPI_ORDER_C, MPI_FLOAT, &type);
    return commit(type);
}

#if MPI_VERSION >= 4
static MPI_Datatype make_contiguous_c(void)
{
    MPI_Datatype type;
    MPI_Type_contiguous_c(6, MPI_FLOAT, &type);
    return commit(type);
}

static MPI_Datatype make_vector_c(void)
{
    MPI_Datatype type;
    MPI_Type_vector_c(3, 2, 5, MPI_FLOAT, &type);
    return commit(type);
}

static MPI_Datatype make_struct_c(void)
{
    MPI_Count lengths[2] = {2, 3}, places[2] = {4, 20};
    MPI_Datatype types[2] = {MPI_FLOAT, MPI_FLOAT}, type;
    MPI_Type_create_struct_c(2, lengths, places, types, &type);
    return commit(type);
}
#endif

const mt_type_t mt_types[] = {
    {"float", make_float, 1},
    {"contiguous", make_contiguous, 12},
    {"dup", make_dup_of_contiguous, 12},
    {"vector", make_vector, 32},
    {"hvector", make_hvector, 24},
    {"dense vector", make_dense_vector, 24},
    {"indexed", make_indexed, 8},
    {"permuted", make_permuted, 4},
    {"hindexed", make_hindexed, 8},
    {"subarray", make_subarray, 24},
    {"Fortran subarray", make_fortran_subarray, 15},
    {"struct", make_struct, 12},
    {"negative", make_negative, 32},
    {"sparse", make_sparse, 1},
    {"same size", make_same_size, 12},
    {"distributed", make_distributed, 24},
#if MPI_VERSION >= 4
    {"contiguous_c", make_contiguous_c, 6},
    {"vector_c", make_vector_c, 6},
    {"struct_c", make_struct_c, 5},
#endif
};
const int mt_type_count = sizeof mt_types / sizeof *mt_types;

mt_layout_t mt_layout_new(MPI_Datatype type, int count)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    mt_layout_t layout = {.count = count, .type = type};
    layout.bytes = 2 * ANCHOR + (size_t)(count * extent + true_extent);
    layout.base = mt_alloc(layout.bytes);
    layout.address = (char *)layout.base + ANCHOR;
    return layout;
}

/* The packed size, and memory for it. MPI_FLOAT packs as it lies in memory. */
static float *packed_new(const mt_layout_t *layout, int *bytes)
{
    MPI_Pack_size(layout->count, layout->type, MPI_COMM_SELF, bytes);
    float *packed = malloc((size_t)*bytes + 1);
    if (!packed)
        mt_die("no memory to pack");
    return packed;
}

void mt_layout_fill(mt_layout_t *layout, size_t floats, unsigned seed)
{
    int bytes, position = 0;
    float *packed = packed_new(layout, &bytes);
    mt_fill(packed, floats, MT_FLOAT, seed);
    MPI_Unpack(packed, bytes, &position, layout->address, layout->count, layout->type,
               MPI_COMM_SELF);
    free(packed);
    mt_seal(layout->base);
}

void mt_layout_check(const char *label, const mt_layout_t *layout, size_t floats, unsigned seed)
{
    int bytes, position = 0;
    float *packed = packed_new(layout, &bytes);
    MPI_Pack(layout->address, layout->count, layout->type, packed, bytes, &position, MPI_COMM_SELF);
    mt_check(label, packed, floats, MT_FLOAT, seed);
    /* Take back what was received: then every byte must be as it was. */
    memset(packed, 0xA5, floats * sizeof(float));
    position = 0;
    MPI_Unpack(packed, bytes, &position, layout->address, layout->count, layout->type,
               MPI_COMM_SELF);
    mt_untouched(label, layout->base, 0, layout->bytes);
    free(packed);
}

void mt_layout_free(mt_layout_t *layout)
{
    mt_free(layout->base);
}
