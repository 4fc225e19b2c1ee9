#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "shim/calls.h"
#include "shim/log.h"
#include "shim/shim.h"
#include "shim/types.h"

static pthread_mutex_t types_mutex = PTHREAD_MUTEX_INITIALIZER;
static type_t *types_table;

atomic_uint types_epoch;
SHIM_THREAD_LOCAL handle_cached_t types_cache[HANDLE_CACHE_ENTRIES];

/* What describing a type finds out. */
typedef struct shape {
    bool sendable, dense;
    const type_t *base; /* predefined */
    size_t bytes;
} shape_t;

static type_t *types_get(MPI_Datatype handle)
{
    uintptr_t key = HANDLE_KEY(handle);
    type_t *type;
    HASH_FIND(hh, types_table, &key, sizeof key, type);
    return type;
}

static type_t *types_add(MPI_Datatype handle)
{
    type_t *type = calloc(1, sizeof *type);
    if (type == NULL)
        return NULL;
    type->key = HANDLE_KEY(handle);
    type->handle = handle;
    HASH_ADD(hh, types_table, key, sizeof type->key, type);
    if (type->hh.tbl != NULL)
        return type;
    free(type);
    return NULL;
}

/*
 * The basic types whose bytes MPI moves untouched whatever lies between: long double, its complex,
 * booleans and logicals are missing, since some are copied value by value.
 */
static int types_add_basic(MPI_Datatype handle, policy_carrier_t carrier)
{
    MPI_Count bytes = 0;
    if (handle == MPI_DATATYPE_NULL || types_get(handle) != NULL)
        return 0;
    if (pmpi.Type_size_x(handle, &bytes) != MPI_SUCCESS || bytes <= 0)
        return 0;
    type_t *type = types_add(handle);
    if (type == NULL)
        return -1;
    type->basic = type->sendable = type->dense = true;
    type->base = handle;
    type->base_bytes = type->bytes = (size_t)bytes;
    type->carrier = carrier;
    atomic_store(&type->asked, true);
    return 0;
}

int types_start(void)
{
    static const policy_carrier_t bytes = POLICY_CARRIER_BYTES, int16 = POLICY_CARRIER_INT16,
                                  other = POLICY_CARRIER_OTHER, single = POLICY_CARRIER_FLOAT32,
                                  twice = POLICY_CARRIER_FLOAT64;
    const struct {
        MPI_Datatype handle;
        policy_carrier_t carrier;
    } basic[] = {
        {MPI_BYTE, bytes}, {MPI_CHAR, bytes}, {MPI_SIGNED_CHAR, bytes}, {MPI_UNSIGNED_CHAR, bytes},
        {MPI_INT8_T, bytes}, {MPI_UINT8_T, bytes}, {MPI_CHARACTER, bytes}, {MPI_INTEGER1, bytes},
        {MPI_SHORT, int16}, {MPI_UNSIGNED_SHORT, int16}, {MPI_INT16_T, int16},
        {MPI_UINT16_T, int16}, {MPI_INTEGER2, int16},
        {MPI_INT, other}, {MPI_UNSIGNED, other}, {MPI_LONG, other}, {MPI_UNSIGNED_LONG, other},
        {MPI_LONG_LONG, other}, {MPI_UNSIGNED_LONG_LONG, other}, {MPI_INT32_T, other},
        {MPI_UINT32_T, other}, {MPI_INT64_T, other}, {MPI_UINT64_T, other}, {MPI_INTEGER, other},
        {MPI_INTEGER4, other}, {MPI_INTEGER8, other}, {MPI_AINT, other}, {MPI_OFFSET, other},
        {MPI_COUNT, other}, {MPI_WCHAR, other},
        {MPI_FLOAT, single}, {MPI_REAL, single}, {MPI_REAL4, single},
        {MPI_C_FLOAT_COMPLEX, single}, {MPI_COMPLEX, single}, {MPI_COMPLEX8, single},
        {MPI_DOUBLE, twice}, {MPI_DOUBLE_PRECISION, twice}, {MPI_REAL8, twice},
        {MPI_C_DOUBLE_COMPLEX, twice}, {MPI_DOUBLE_COMPLEX, twice}, {MPI_COMPLEX16, twice},
#ifdef MPIX_C_FLOAT16
        {MPIX_C_FLOAT16, POLICY_CARRIER_FLOAT16},
#endif
#ifdef MPIX_C_BF16
        {MPIX_C_BF16, POLICY_CARRIER_BFLOAT16},
#endif
    };
    for (size_t i = 0; i < sizeof basic / sizeof basic[0]; i++)
        if (types_add_basic(basic[i].handle, basic[i].carrier) != 0)
            return -1;
    return 0;
}

void types_learn(MPI_Datatype handle)
{
    if (handle == MPI_DATATYPE_NULL)
        return;
    shim_lock(&types_mutex);
    if (types_get(handle) == NULL && types_add(handle) == NULL)
        log_warn("out of memory: messages of a new datatype stay raw");
    atomic_fetch_add(&types_epoch, 1);
    shim_unlock(&types_mutex);
}

type_t *types_hold_valid(MPI_Datatype handle)
{
    type_t *type = types_hold(handle);
    if (type != NULL)
        return type;
    types_learn(handle);
    return types_hold(handle);
}

/*
 * A copy for receives under way. Type_contiguous and not Type_dup: attribute callbacks of the
 * program must not run.
 */
static void types_keep_copy(type_t *type)
{
    MPI_Datatype copy;
    if (pmpi.Type_contiguous(1, type->handle, &copy) == MPI_SUCCESS &&
        pmpi.Type_commit(&copy) == MPI_SUCCESS)
        type->handle = copy;
    type->freed = true;
}

void types_forget(MPI_Datatype handle)
{
    shim_lock(&types_mutex);
    type_t *type = types_get(handle);
    if (type != NULL && !type->basic) {
        HASH_DEL(types_table, type);
        if (type->uses > 0)
            types_keep_copy(type);
        else
            free(type);
        atomic_fetch_add(&types_epoch, 1);
    }
    shim_unlock(&types_mutex);
}

static shape_t types_describe(MPI_Datatype handle);

/* The contents of a derived type, as far as they matter here. */
typedef struct contents {
    int combiner;
    MPI_Count parts; /* component types */
    MPI_Datatype *types;
} contents_t;

#if MPI_VERSION >= 4
static int types_contents(MPI_Datatype handle, contents_t *contents)
{
    MPI_Count integers, addresses, counts;
    int rc = pmpi.Type_get_envelope_c(handle, &integers, &addresses, &counts, &contents->parts,
                                      &contents->combiner);
    if (rc != MPI_SUCCESS || contents->combiner == MPI_COMBINER_NAMED || contents->parts == 0)
        return -1;
    int *integer = malloc((size_t)(integers + 1) * sizeof *integer);
    MPI_Aint *address = malloc((size_t)(addresses + 1) * sizeof *address);
    MPI_Count *count = malloc((size_t)(counts + 1) * sizeof *count);
    contents->types = malloc((size_t)contents->parts * sizeof *contents->types);
    bool enough = integer != NULL && address != NULL && count != NULL && contents->types != NULL;
    if (enough)
        rc = pmpi.Type_get_contents_c(handle, integers, addresses, counts, contents->parts, integer,
                                      address, count, contents->types);
    free(integer);
    free(address);
    free(count);
    if (enough && rc == MPI_SUCCESS)
        return 0;
    free(contents->types);
    return -1;
}
#else
static int types_contents(MPI_Datatype handle, contents_t *contents)
{
    int integers, addresses, parts;
    int rc = pmpi.Type_get_envelope(handle, &integers, &addresses, &parts, &contents->combiner);
    if (rc != MPI_SUCCESS || contents->combiner == MPI_COMBINER_NAMED || parts == 0)
        return -1;
    contents->parts = parts;
    int *integer = malloc((size_t)(integers + 1) * sizeof *integer);
    MPI_Aint *address = malloc((size_t)(addresses + 1) * sizeof *address);
    contents->types = malloc((size_t)parts * sizeof *contents->types);
    bool enough = integer != NULL && address != NULL && contents->types != NULL;
    if (enough)
        rc = pmpi.Type_get_contents(handle, integers, addresses, parts, integer, address,
                                    contents->types);
    free(integer);
    free(address);
    if (enough && rc == MPI_SUCCESS)
        return 0;
    free(contents->types);
    return -1;
}
#endif

/* MPI hands out component types that are derived as new references, to be freed. */
static void types_free_part(MPI_Datatype part)
{
    int combiner;
#if MPI_VERSION >= 4
    MPI_Count integers, addresses, counts, parts;
    pmpi.Type_get_envelope_c(part, &integers, &addresses, &counts, &parts, &combiner);
#else
    int integers, addresses, parts;
    pmpi.Type_get_envelope(part, &integers, &addresses, &parts, &combiner);
#endif
    bool predefined = combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
                      combiner == MPI_COMBINER_F90_COMPLEX ||
                      combiner == MPI_COMBINER_F90_INTEGER;
    if (!predefined)
        pmpi.Type_free(&part);
}

static shape_t types_describe(MPI_Datatype handle)
{
    shape_t shape = {.sendable = false};
    type_t *basic = types_get(handle);
    if (basic != NULL && basic->basic)
        return (shape_t){.sendable = true, .dense = true, .base = basic, .bytes = basic->bytes};
    contents_t contents;
    if (types_contents(handle, &contents) != 0)
        return shape;
    shape.sendable = true;
    bool one_dense = contents.combiner == MPI_COMBINER_CONTIGUOUS ||
                     contents.combiner == MPI_COMBINER_DUP;
    shape.dense = one_dense;
    for (MPI_Count i = 0; i < contents.parts; i++) {
        shape_t part = types_describe(contents.types[i]);
        shape.sendable = shape.sendable && part.sendable &&
                         (shape.base == NULL || shape.base == part.base);
        shape.base = part.base;
        shape.dense = shape.dense && part.dense;
        types_free_part(contents.types[i]);
    }
    free(contents.types);
    MPI_Count bytes = 0;
    pmpi.Type_size_x(handle, &bytes);
    shape.bytes = (size_t)bytes;
    shape.sendable = shape.sendable && bytes > 0;
    return shape;
}

static void types_ask(type_t *type)
{
    shape_t shape = types_describe(type->handle);
    MPI_Count bytes = 0;
    pmpi.Type_size_x(type->handle, &bytes);
    type->bytes = bytes > 0 ? (size_t)bytes : 0;
    type->sendable = shape.sendable;
    type->dense = shape.sendable && shape.dense;
    if (shape.sendable) {
        type->base = shape.base->handle;
        type->base_bytes = shape.base->base_bytes;
        type->carrier = shape.base->carrier;
    }
    atomic_store_explicit(&type->asked, true, memory_order_release);
}

static type_t *types_look_up(MPI_Datatype handle, int uses)
{
    shim_lock(&types_mutex);
    type_t *type = types_get(handle);
    if (type != NULL) {
        if (!atomic_load(&type->asked))
            types_ask(type);
        if (!type->basic)
            type->uses += uses;
    }
    *handle_cache_entry(types_cache, HANDLE_KEY(handle)) = (handle_cached_t){
        .key = HANDLE_KEY(handle), .epoch = atomic_load(&types_epoch), .found = type};
    shim_unlock(&types_mutex);
    return type;
}

type_t *types_find(MPI_Datatype handle)
{
    type_t *type = types_recent(handle);
    return LIKELY(type != NULL) ? type : types_look_up(handle, 0);
}

type_t *types_hold(MPI_Datatype handle)
{
    type_t *type = types_recent(handle);
    return LIKELY(type != NULL && type->basic) ? type : types_look_up(handle, 1);
}

void types_release(type_t *type)
{
    if (type == NULL || type->basic)
        return;
    shim_lock(&types_mutex);
    bool last = --type->uses == 0 && type->freed;
    shim_unlock(&types_mutex);
    if (!last)
        return;
    pmpi.Type_free(&type->handle);
    free(type);
}

size_t types_bytes(MPI_Datatype handle, const type_t *type)
{
    if (LIKELY(type != NULL))
        return type->bytes;
    MPI_Count bytes = 0;
    pmpi.Type_size_x(handle, &bytes);
    return bytes > 0 ? (size_t)bytes : 0;
}

void types_drop(void)
{
    type_t *type, *after;
    HASH_ITER(hh, types_table, type, after)
    {
        HASH_DEL(types_table, type);
        if (type->uses == 0)
            free(type);
    }
    atomic_fetch_add(&types_epoch, 1);
}
