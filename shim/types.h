/*
 * What the library knows of datatypes: which basic type a datatype is made of, and whether its
 * elements lie dense in memory. Learned where the program makes a type, asked of MPI at first use.
 */
#ifndef SHIM_TYPES_H
#define SHIM_TYPES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"
#include "shim/handle_table.h"
#include "shim/mpi_header.h"
#include "shim/shim.h"

typedef struct type {
    uintptr_t key;
    MPI_Datatype handle; /* what to pass to MPI: the program's, or our copy once that was freed */
    atomic_bool asked;
    bool basic;     /* a predefined type */
    bool sendable;  /* made of one basic type that carries frames: the fields below are filled */
    bool dense;     /* elements follow one another from the buffer's address on, in order */
    MPI_Datatype base;         /* the basic type */
    size_t base_bytes;
    policy_carrier_t carrier;
    size_t bytes;   /* of data in one element of the type (its size, not its extent) */
    int uses;       /* receives under way with it */
    bool freed;     /* the program has freed it: handle is a copy of ours, alive until uses is 0 */
    UT_hash_handle hh;
} type_t;

/* Enters the predefined types. Returns 0, or -1 without memory. */
int types_start(void);

/* Learns a type the program has just made. */
void types_learn(MPI_Datatype handle);

/* Forgets a type that the program is about to free; receives under way keep a copy of it. */
void types_forget(MPI_Datatype handle);

extern atomic_uint types_epoch;
extern SHIM_THREAD_LOCAL handle_cached_t types_cache[HANDLE_CACHE_ENTRIES];

/* What this thread found of a type lately, or NULL: for what must cost nothing. */
static inline type_t *types_recent(MPI_Datatype handle)
{
    return handle_cache_find(types_cache, HANDLE_KEY(handle), &types_epoch);
}

/* What was learned of a type, or NULL. Valid until it is freed. */
type_t *types_find(MPI_Datatype handle);

/* The same for a receive that will look at it later; to be given back by types_release. */
type_t *types_hold(MPI_Datatype handle);

/*
 * The same of a handle that MPI has just accepted: one that is not known (from MPI_Type_get_contents, or
 * freed while MPI goes on counting references to it) is learned.
 */
type_t *types_hold_valid(MPI_Datatype handle);

/* NULL is allowed. */
void types_release(type_t *type);

/*
 * Bytes of data in one element. handle must be one that MPI has just accepted in a call of the
 * program; type is what was learned of it, or NULL.
 */
size_t types_bytes(MPI_Datatype handle, const type_t *type);

/*
 * Copies the first bytes bytes of data of a typed buffer into plain memory (pack) or from it
 * (unpack: gaps in the buffer are not touched; an element that is filled in part keeps its rest).
 * buf may be MPI_BOTTOM. handle: alive. Returns an MPI error code, not raised; packing reads whole
 * elements, so to must have room for a multiple of the type's size.
 */
int types_pack(const void *buf, MPI_Datatype handle, size_t type_bytes, size_t bytes, void *to);
int types_unpack(const void *from, size_t bytes, void *buf, MPI_Datatype handle,
                 size_t type_bytes);

#if MPI_VERSION < 4
/*
 * As many elements for a call that takes an int: of the type itself, or one of a type made of it.
 */
typedef struct plain {
    int count;
    MPI_Datatype type;
    bool made;
} plain_t;

/* Returns an MPI error code, not raised. plain is to be freed, as soon as the call has started. */
int types_plain(MPI_Count count, MPI_Datatype type, plain_t *plain);
void types_plain_free(plain_t *plain);
#endif

void types_drop(void);

#endif
