/* Data of typed buffers to plain memory and back. */
#include "config.h"

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

static int types_pack_run(const place_t *place, size_t first, size_t items, size_t type_bytes,
                          unsigned char *to)
{
    int position = 0;
    return pmpi.Pack(place->buf + (MPI_Count)first * place->extent, (int)items, place->handle, to,
                     (int)(items * type_bytes), &position, MPI_COMM_SELF);
}

static int types_unpack_run(const place_t *place, size_t first, size_t items, size_t type_bytes,
                            const unsigned char *from)
{
    int position = 0;
    return pmpi.Unpack(from, (int)(items * type_bytes), &position,
                       place->buf + (MPI_Count)first * place->extent, (int)items, place->handle,
                       MPI_COMM_SELF);
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
