/* codec_bench: tensors to encode, contenders that encode them, and what was measured. */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include "codec/tah.h"

typedef struct tensor {
    char name[64];
    tah_dtype_t dtype;
    size_t count, bytes;
    uint32_t channels; /* elements of a token; divides count */
    uint8_t *data;
} tensor_t;

/* What generated tensors are like. */
typedef struct tensor_wish {
    size_t bytes;      /* rounded down to whole tokens */
    uint32_t channels; /* of files too, where not 0; else their last dimension, generated: 1024 */
    tah_dtype_t dtype;
    uint64_t seed;
} tensor_wish_t;

/* The names of generated tensors, one after another; NULL behind the last. */
const char *tensor_generated(size_t index);

/*
 * A generated tensor by name, or one from the .npy file of that path; the caller frees it by
 * tensor_free. false: why has one sentence.
 */
bool tensor_open(const char *name, const tensor_wish_t *wish, tensor_t *tensor, char *why,
                 size_t why_bytes);
void tensor_free(tensor_t *tensor);

/*
 * The error of a decoded tensor in dB: in all, and relative to each token, in the mean over tokens
 * that are not all zero. -INFINITY: none.
 */
void tensor_error(const tensor_t *tensor, const uint8_t *decoded, double *absolute, double *token);

typedef enum contender_kind {
    CONTENDER_MEMCPY,
    CONTENDER_CODEC, /* one of ours */
    CONTENDER_ZFP,
    CONTENDER_ZSTD,
} contender_kind_t;

/* One way to encode one tensor. */
typedef struct contender {
    const char *spec;   /* "tah allocate=range": a name, and settings as in a policy */
    const char *kernel; /* of our codecs but lossless; "-": of no meaning */
    unsigned threads;   /* of our codecs */
    tah_pool_t *pool;
    contender_kind_t kind;
    tah_params_t params;
    double rate; /* zfp: bits a value */
    int level;   /* zstd */
} contender_t;

/* What was measured of one contender. */
typedef struct result {
    char fault[160];        /* why it was left out; "": it was not */
    double encode, decode;  /* seconds, the least of all repetitions */
    size_t bytes;           /* encoded */
    double absolute, token; /* as tensor_error gives them */
    double rotated;         /* share of tiles transformed */
} result_t;

/*
 * Whether a spec can be used for a tensor; sets all of *contender but the kernel and the pool.
 * false: why says why not.
 */
bool contender_init(contender_t *contender, const char *spec, const tensor_t *tensor, char *why,
                    size_t why_bytes);

/* Whether what a spec names is in this build. */
bool contender_built(const char *spec);

/* Whether it is one of our codecs, which threads can share; and whether the kernel matters too. */
bool contender_has_threads(const contender_t *contender);
bool contender_has_kernels(const contender_t *contender);

/* Bytes that an encoding may take. */
size_t contender_room(const contender_t *contender, const tensor_t *tensor);

/* Encodes into room bytes at out; sets result->bytes and ->rotated. false: result->fault is set. */
bool contender_encode(const contender_t *contender, const tensor_t *tensor, uint8_t *out,
                      size_t room, result_t *result);

/* Decodes result->bytes bytes at in to dst. false: result->fault is set. */
bool contender_decode(const contender_t *contender, const tensor_t *tensor, const uint8_t *in,
                      uint8_t *dst, result_t *result);

/* Output: a table for people, or CSV lines with a head. */
void print_csv_head(void);
void print_csv(const tensor_t *tensor, bool cold, const contender_t *contenders,
               const result_t *results, size_t count);
void print_table(const tensor_t *tensor, bool cold, const contender_t *contenders,
                 const result_t *results, size_t count);

#endif
