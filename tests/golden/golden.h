/*
 * The golden frames: what each holds, as code, so that the files can be made anew and checked
 * against the encoder. tests/golden has NAME.frame and NAME.tensor (what it decodes to),
 * tests/golden-bad has NAME.frame and in expected.txt the error that each must give.
 */
#ifndef TESTS_GOLDEN_GOLDEN_H
#define TESTS_GOLDEN_GOLDEN_H

#include "codec/tah.h"

extern const uint8_t golden_key[TAH_KEY_BYTES];

size_t golden_count(void);
const char *golden_name(size_t index);

/*
 * Encodes a case anew. *frame and *tensor (what the frame decodes to) are allocated; the caller
 * frees both. false: encoding or decoding failed.
 */
bool golden_make(size_t index, uint8_t **frame, size_t *frame_bytes, uint8_t **tensor,
                 size_t *tensor_bytes);

size_t golden_bad_count(void);
const char *golden_bad_name(size_t index);
tah_status_t golden_bad_status(size_t index);

/* A frame with one fault; allocated, the caller frees it. NULL: its base could not be made. */
uint8_t *golden_bad_make(size_t index, size_t *bytes);

/* The name that expected.txt has for a status; NULL for one that no bad frame gives. */
const char *golden_status_name(tah_status_t status);

#endif
