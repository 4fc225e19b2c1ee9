/* Derived types of floats, and buffers laid out by them. */
#ifndef MT_TYPES_H
#define MT_TYPES_H

#include "tests/lib/mt.h"

typedef struct mt_type {
    const char *name;
    MPI_Datatype (*make)(void); /* a committed type; the caller frees it */
    int floats;                 /* floats in one instance */
} mt_type_t;

/* Types made of MPI_FLOAT alone. */
extern const mt_type_t mt_types[];
extern const int mt_type_count;

/* A buffer for count instances of a type, which may have a negative lower bound. */
typedef struct mt_layout {
    void *base;    /* of mt_alloc, 0xA5 wherever the type has no float */
    void *address; /* what to pass to MPI */
    size_t bytes;  /* of the whole buffer */
    int count;
    MPI_Datatype type;
} mt_layout_t;

/* All bytes 0xA5. The layout does not own the type. */
mt_layout_t mt_layout_new(MPI_Datatype type, int count);

/* Puts the floats of mt_fill in the places of the type, and makes the buffer read-only. */
void mt_layout_fill(mt_layout_t *layout, size_t floats, unsigned seed);

/*
 * Notes how the first floats floats in the places of the type compare with those of mt_fill, and
 * any byte elsewhere that is no longer 0xA5. The type must still be alive.
 */
void mt_layout_check(const char *label, const mt_layout_t *layout, size_t floats, unsigned seed);

void mt_layout_free(mt_layout_t *layout);

#endif
