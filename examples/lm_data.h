/* The text that is learnt, one token a byte, and the choice of what each step reads. */
#ifndef LM_DATA_H
#define LM_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lm_stage.h"

struct lm_text {
    uint8_t *byte;
    size_t length;
    uint64_t digest; /* of all bytes: equal on all ranks, or they read different files */
};

/* Reads the whole file. On failure returns false, *text is zero and `message` says which file and
   why: not readable, or shorter than the context + 1 bytes that one sequence takes. Release with
   lm_text_free. */
bool lm_text_read(struct lm_text *text, const char *path, int context, char *message,
                  size_t message_size);

void lm_text_free(struct lm_text *text);

/* Fills the slot's input and target tokens with the sequences of a micro-batch, each from a place
   in the text that depends on seed, step, micro-batch and sequence alone. */
void lm_text_sample(const struct lm_text *text, const struct lm_shape *shape, uint64_t seed,
                    int step, int micro_batch, struct lm_slot *slot);

#endif
