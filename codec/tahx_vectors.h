/* The fields of channels, between what makes them and what uses them. */
#ifndef TAH_TAHX_VECTORS_H
#define TAH_TAHX_VECTORS_H

#include "codec/tahx.h"

/* The fields of channels, as they are sent. */
typedef struct tahx_fields {
    int16_t *mean;
    uint8_t *scale;
    unsigned mean_bits;
    int mean_exponent;
    bool scaled;
} tahx_fields_t;

/* false: out of memory. */
bool tahx_fields_alloc(tahx_fields_t *fields, uint32_t channels);
void tahx_fields_free(tahx_fields_t *fields);

/* The section of channels. */
void tahx_fields_write(const tahx_shape_t *shape, const tahx_fields_t *fields, uint8_t *payload);

/* What fields stand for: scales and means, which is all that a decoder needs. */
void tahx_vectors_fill(const tahx_shape_t *shape, const tahx_fields_t *fields,
                       tahx_vectors_t *vectors);

/* Of filled vectors: inverses and offsets; weights. */
void tahx_vectors_invert(const tahx_shape_t *shape, tahx_vectors_t *vectors);
void tahx_vectors_weigh(const tahx_shape_t *shape, tahx_vectors_t *vectors);

#endif
