/* Data of typed buffers to plain memory and back. */
#include "config.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "shim/calls.h"
#include "shim/shim.h"
#include "shim/types.h"

/* Bytes packed in one call at most: MPI_Pack counts in int. */
#define TYPES_PACK_MOST ((size_t)1 << 28)

/*
 * MPI_Pack of some MPIs refuses MPI_BOTTOM, though it is legal: a type whose displacements are
 * addresses is moved so that it counts from an anchor instead.
 */
typedef struct place {
    char *buf;
    MPI_Datatype handle;
    bool moved;
    MPI_Count extent;
} place_t;

static int types_place(const void *buf, MPI_Datatype handle, place_t *place)
{
    static char anchor;
    MPI_Count lb;
    *place = (place_t){.buf = (char *)(uintptr_t)buf, .handle = handle};
    if (buf == MPI_BOTTOM) {
        MPI_Aint shift = -(MPI_Aint)&anchor;
        int rc = pmpi.Type_create_hindexed_block(1, 1, &shift, handle, &place->handle);
        if (rc == MPI_SUCCESS)
            rc = pmpi.Type_commit(&place->handle);
        if (rc != MPI_SUCCESS)
            return rc;
        place->buf = &anchor;
        place->moved = true;
    }
    return pmpi.Type_get_extent_x(handle, &lb, &place->extent);
}

static void types_leave(place_t *place)
{
    if (place->moved)
        pmpi.Type_free(&place->handle);
}

#if MPI_VERSION < 4
int types_plain(MPI_Count count, MPI_Datatype type, plain_t *plain)
{
    enum { BLOCK = 1 << 20 };
    *plain = (plain_t){.count = (int)count, .type = type};
    if (count <= INT_MAX)
        return MPI_SUCCESS;
    MPI_Datatype block;
    MPI_Count lb, extent;
    int rc = pmpi.Type_get_extent_x(type, &lb, &extent);
    if (rc == MPI_SUCCESS)
        rc = pmpi.Type_contiguous(BLOCK, type, &block);
    if (rc != MPI_SUCCESS)
        return rc;
    const int counts[] = {(int)(count / BLOCK), (int)(count % BLOCK)};
    const MPI_Aint starts[] = {0, (MPI_Aint)((count - count % BLOCK) * extent)};
    const MPI_Datatype types[] = {block, type};
    rc = pmpi.Type_create_struct(2, counts, starts, types, &plain->type);
    pmpi.Type_free(&block);
    if (rc != MPI_SUCCESS)
        return rc;
    plain->count = 1;
    plain->made = true;
    return pmpi.Type_commit(&plain->type);
}

void types_plain_free(plain_t *plain)
{
    if (plain->made)
        pmpi.Type_free(&plain->type);
}

/*
 * Data too large for a call that counts bytes in int, which the one element of a run may be: sent
 * by this process to itself, as messages have no such limit. Tags keep threads apart; the lower
 * ones are in use on this communicator.
 */
static int types_copy(const void *from, MPI_Count items, MPI_Datatype from_type, void *to,
                      MPI_Count room, MPI_Datatype to_type)
{
    static atomic_uint calls;
    int tag = 16 + (int)(atomic_fetch_add(&calls, 1) % 16384);
    plain_t source, target = {.made = false};
    int rc = types_plain(items, from_type, &source);
    if (rc == MPI_SUCCESS)
        rc = types_plain(room, to_type, &target);
    if (rc == MPI_SUCCESS)
        rc = pmpi.Sendrecv(from, source.count, source.type, shim.rank, tag, to, target.count,
                           target.type, shim.rank, tag, shim.comm, MPI_STATUS_IGNORE);
    types_plain_free(&target);
    types_plain_free(&source);
    return rc;
}
#endif

static int types_pack_run(const place_t *place, size_t first, size_t items, size_t type_bytes,
                          unsigned char *to)
{
    const char *buf = place->buf + (MPI_Count)first * place->extent;
    MPI_Count count = (MPI_Count)items, bytes = (MPI_Count)(items * type_bytes);
#if MPI_VERSION >= 4
    MPI_Count position = 0;
    return pmpi.Pack_c(buf, count, place->handle, to, bytes, &position, MPI_COMM_SELF);
#else
    int position = 0;
    if (bytes > INT_MAX)
        return types_copy(buf, count, place->handle, to, bytes, MPI_PACKED);
    return pmpi.Pack(buf, (int)count, place->handle, to, (int)bytes, &position, MPI_COMM_SELF);
#endif
}

static int types_unpack_run(const place_t *place, size_t first, size_t items, size_t type_bytes,
                            const unsigned char *from)
{
    char *buf = place->buf + (MPI_Count)first * place->extent;
    MPI_Count count = (MPI_Count)items, bytes = (MPI_Count)(items * type_bytes);
#if MPI_VERSION >= 4
    MPI_Count position = 0;
    return pmpi.Unpack_c(from, bytes, &position, buf, count, place->handle, MPI_COMM_SELF);
#else
    int position = 0;
    if (bytes > INT_MAX)
        return types_copy(from, bytes, MPI_PACKED, buf, count, place->handle);
    return pmpi.Unpack(from, (int)bytes, &position, buf, (int)count, place->handle, MPI_COMM_SELF);
#endif
}

int types_pack(const void *buf, MPI_Datatype handle, size_t type_bytes, size_t bytes, void *to)
{
    place_t place;
    int rc = types_place(buf, handle, &place);
    size_t items = (bytes + type_bytes - 1) / type_bytes;
    size_t run = TYPES_PACK_MOST / type_bytes + 1;
    for (size_t first = 0; first < items && rc == MPI_SUCCESS; first += run) {
        size_t here = items - first < run ? items - first : run;
        rc = types_pack_run(&place, first, here, type_bytes,
                            (unsigned char *)to + first * type_bytes);
    }
    types_leave(&place);
    return rc;
}

/* The last element, filled in part: its packed form, with the new bytes laid over the old. */
static int types_unpack_part(const place_t *place, size_t item, size_t type_bytes,
                             const unsigned char *from, size_t bytes)
{
    unsigned char *whole = malloc(type_bytes);
    if (whole == NULL)
        return MPI_ERR_NO_MEM;
    int rc = types_pack_run(place, item, 1, type_bytes, whole);
    if (rc == MPI_SUCCESS) {
        memcpy(whole, from, bytes);
        rc = types_unpack_run(place, item, 1, type_bytes, whole);
    }
    free(whole);
    return rc;
}

int types_unpack(const void *from, size_t bytes, void *buf, MPI_Datatype handle, size_t type_bytes)
{
    place_t place;
    const unsigned char *data = from;
    int rc = types_place(buf, handle, &place);
    size_t items = bytes / type_bytes, rest = bytes % type_bytes;
    size_t run = TYPES_PACK_MOST / type_bytes + 1;
    for (size_t first = 0; first < items && rc == MPI_SUCCESS; first += run) {
        size_t here = items - first < run ? items - first : run;
        rc = types_unpack_run(&place, first, here, type_bytes, data + first * type_bytes);
    }
    if (rest > 0 && rc == MPI_SUCCESS)
        rc = types_unpack_part(&place, items, type_bytes, data + items * type_bytes, rest);
    types_leave(&place);
    return rc;
}
