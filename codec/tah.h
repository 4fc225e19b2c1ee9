/*
 * The codec: tensors in plain memory to frames and back. The only public header of codec/.
 *
 * The codec knows no MPI, prints nothing, and allocates nothing but what a caller asked for by
 * name. Every function is safe to call from several threads at once on different buffers, and none
 * changes or relies on the rounding mode or the flush-to-zero state of the calling thread.
 *
 * The bytes of a frame are specified in doc/frame-format.md; every kernel gives the same bytes for
 * the same tensor, and the same tensor for the same frame, bit for bit.
 */
#ifndef TAH_H
#define TAH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAH_WIRE_VERSION 1 /* format version that this library writes and reads */
#define TAH_KEY_BYTES 16   /* the job's key, first bytes of every frame */
#define TAH_HEADER_BYTES 64
#define TAH_FRAME_ALIGN 128   /* a frame's length in bytes modulo this ... */
#define TAH_FRAME_RESIDUE 112 /* ... is this, so that other lengths are never looked at */
#define TAH_FRAME_MIN 112     /* shortest frame, bytes */

/* Values are pinned: they are what a report or a log says. Grouped by who is at fault. */
typedef enum tah_status {
    TAH_OK = 0,
    /* the caller's settings */
    TAH_ERR_PARAM = 10, /* parameters that tah_params_check refuses */
    TAH_ERR_DTYPE = 11, /* this codec does not take this element type */
    /* not worth it: send the message as it is */
    TAH_ERR_SPACE = 20, /* the frame would be longer than the capacity given */
    TAH_ERR_SQNR = 21,  /* no setting reaches params.min_sqnr */
    TAH_ERR_MEMORY = 22,
    /* the frame */
    TAH_NOT_A_FRAME = 30,   /* length or key is not a frame's: ordinary data */
    TAH_ERR_VERSION = 31,   /* a frame of another wire version */
    TAH_ERR_HEADER = 32,    /* a header field has a value that this version does not allow */
    TAH_ERR_CHECKSUM = 33,  /* damaged on the way */
    TAH_ERR_PAYLOAD = 34,   /* checksum right, but the payload contradicts the header */
    TAH_ERR_UNSUPPORTED = 35, /* a codec this build leaves out (lossless without zstd) */
    /* the receiver's buffer */
    TAH_ERR_TRUNCATE = 40, /* the tensor is longer than the buffer */
} tah_status_t;

typedef enum tah_dtype {
    TAH_BYTES = 0, /* any bytes; only the lossless codec takes them */
    TAH_FLOAT32 = 1,
    TAH_BFLOAT16 = 2,
    TAH_FLOAT16 = 3,
    TAH_FLOAT64 = 4,
    TAH_DTYPE_COUNT
} tah_dtype_t;

typedef enum tah_codec {
    TAH_CODEC_NONE = 0, /* a rule that keeps its messages raw */
    TAH_CODEC_TAH = 1,
    TAH_CODEC_UNIFORM = 2,
    TAH_CODEC_TAHX = 3,
    TAH_CODEC_LOSSLESS = 4,
    TAH_CODEC_COUNT
} tah_codec_t;

/* Which parts of a tensor get the low width. */
typedef enum tah_allocate {
    TAH_ALLOCATE_TOKEN = 0, /* whole tokens, by entropy (paper, first version); needs channels */
    TAH_ALLOCATE_TILE = 1,  /* tiles, by entropy (second version) */
    TAH_ALLOCATE_RANGE = 2, /* tiles, by max - min */
} tah_allocate_t;

typedef enum tah_hadamard {
    TAH_HADAMARD_PUBLISHED = 0, /* where the largest |x| is at least twice the second largest */
    TAH_HADAMARD_BEST = 1,      /* of those, only where the range really gets shorter */
    TAH_HADAMARD_OFF = 2,
} tah_hadamard_t;

typedef enum tah_rounding { TAH_ROUND_NEAREST = 0, TAH_ROUND_STOCHASTIC = 1 } tah_rounding_t;

typedef enum tah_error { TAH_ERROR_ABSOLUTE = 0, TAH_ERROR_TOKEN = 1 } tah_error_t;

/*
 * What a rule asks for. tah_params_init gives the defaults of a codec; fields that a codec does not
 * use are ignored by it.
 */
typedef struct tah_params {
    tah_codec_t codec;
    tah_dtype_t dtype;
    uint32_t channels;       /* C of a T x C message, elements; 0: not known */
    uint16_t tile;           /* G, elements: a power of two, 16..256 */
    uint8_t bits_high;       /* width of a code, bits: 2..8. The only width of uniform */
    uint8_t bits_low;        /* 2..8, not above bits_high */
    float high_fraction;     /* share of tokens or tiles with bits_high, 0..1 */
    tah_allocate_t allocate; /* tah */
    tah_hadamard_t hadamard; /* tah */
    tah_rounding_t rounding; /* tah, uniform */
    bool range_search;       /* tah, uniform: try narrower ranges for a smaller error */
    uint64_t seed;           /* stochastic rounding */
    float rate;              /* tahx: total bits a value, 1..9 */
    uint8_t min_bits;        /* tahx: least width of a tile, 0..7 */
    tah_error_t error;       /* tahx: what its allocation minimises */
    float min_sqnr;          /* dB; -INFINITY: no floor. Else both widths (tahx: the rate) grow by
                                one bit until it is reached */
    int level;               /* lossless: zstd level */
} tah_params_t;

/*
 * Threads that encode and decode large messages together with the calling one; made by
 * tah_pool_create. Frames and tensors do not depend on them.
 */
typedef struct tah_pool tah_pool_t;

/* What surrounds one message; zero bytes are a valid default for all but the key. */
typedef struct tah_message {
    uint8_t key[TAH_KEY_BYTES];
    uint8_t rule;     /* carried to the receiver for its report, meaningless to the codec */
    uint64_t serial;  /* number of this message: counter of stochastic rounding */
    bool measure;     /* fill tah_encoded_t.signal and .noise */
    tah_pool_t *pool; /* NULL: the calling thread alone */
} tah_message_t;

/* What an encoder has to say of one message. */
typedef struct tah_encoded {
    size_t frame_bytes;      /* a multiple of 128, plus 112 */
    size_t tiles;            /* all tiles */
    size_t tiles_high;       /* at the high width (tah) */
    size_t tiles_rotated;    /* pivot swap and Hadamard transform applied */
    size_t tiles_exact;      /* stored exactly: constant, or with values the format cannot hold */
    bool measured;           /* the two sums below are valid */
    double signal, noise;    /* sum of x^2, and of (x - decoded x)^2 */
    unsigned retries;        /* encodings at more bits that min_sqnr asked for */
} tah_encoded_t;

/* A frame's header, checked. */
typedef struct tah_frame {
    tah_codec_t codec;
    tah_dtype_t dtype;
    uint8_t rule;
    uint64_t count;         /* elements */
    uint64_t tensor_bytes;  /* count * element size */
    uint64_t payload_bytes; /* without header and padding */
} tah_frame_t;

/* Bytes of one element; 0 for a value that is no element type. TAH_BYTES: 1. */
size_t tah_dtype_bytes(tah_dtype_t dtype);

/* "float32" ...; NULL for a value that is no element type. Static storage. */
const char *tah_dtype_name(tah_dtype_t dtype);

/* "tah" ...; NULL for a value that is no codec. Static storage. */
const char *tah_codec_name(tah_codec_t codec);

/* One short English clause, without a full stop. Static storage; never NULL. */
const char *tah_status_string(tah_status_t status);

/*
 * The default parameters of a codec: tah and uniform as published (tah 4/3 bits, high fraction 0.8,
 * tiles of 64; uniform 6 bits, tiles of 32), float32, channels unknown.
 */
void tah_params_init(tah_params_t *params, tah_codec_t codec);

/*
 * Checks that params can be encoded with. On TAH_ERR_PARAM or TAH_ERR_DTYPE, why (at most why_bytes
 * with its NUL) says which field is wrong and what is allowed; it is "" on success.
 */
tah_status_t tah_params_check(const tah_params_t *params, char *why, size_t why_bytes);

/*
 * Whether a message of count elements suits params: TAH_ERR_PARAM where channels does not divide
 * count. Params must have passed tah_params_check. Costs nanoseconds.
 */
tah_status_t tah_params_fit(const tah_params_t *params, size_t count);

/*
 * Bytes that a frame of count elements takes at most when no tile has to be stored exactly: what to
 * allocate first. A frame with exact tiles can be longer; tah_encode then says TAH_ERR_SPACE, and
 * the caller may come again with as much as the message itself. 64-bit throughout.
 */
size_t tah_frame_bound(const tah_params_t *params, size_t count);

/* Whether a message of this many bytes can be a frame: the filter of everything that arrives. */
static inline bool tah_frame_length(uint64_t bytes)
{
    return bytes % TAH_FRAME_ALIGN == TAH_FRAME_RESIDUE;
}

/* Whether these bytes start with the job's key. bytes: at least TAH_KEY_BYTES. */
bool tah_frame_has_key(const void *bytes, const uint8_t key[TAH_KEY_BYTES]);

/*
 * The length, bytes, that a frame at the start of data says it has, where data is memory of
 * capacity bytes whose use is not known. 0: no key there, or a length beyond capacity. Only the
 * length is read; tah_frame_read checks the rest.
 */
size_t tah_frame_claimed_bytes(const void *data, size_t capacity, const uint8_t key[TAH_KEY_BYTES]);

/*
 * Encodes count elements of params->dtype at src, which may have any alignment and is only read,
 * into frame, which src must not overlap.
 * TAH_OK: frame holds result->frame_bytes bytes, at most capacity.
 * TAH_ERR_SPACE, TAH_ERR_SQNR, TAH_ERR_PARAM, TAH_ERR_DTYPE, TAH_ERR_MEMORY: the content of frame
 * up to capacity is undefined, result is all zero; the first 16 bytes are then zero if capacity
 * allows, so that the buffer cannot pass for a frame.
 * With min_sqnr, TAH_ERR_SPACE may also say that an encoding tried on the way did not fit, with
 * more bits or with more exact tiles than another; where capacity is that of the message, the
 * message is better sent as it is. result may not be NULL.
 */
tah_status_t tah_encode(const tah_params_t *params, const tah_message_t *message, const void *src,
                        size_t count, void *frame, size_t capacity, tah_encoded_t *result);

/*
 * Reads and checks the header and the checksum of bytes at data, which may have any alignment.
 * TAH_OK: info is filled. Everything else leaves info untouched; TAH_NOT_A_FRAME says that this is
 * ordinary data, the other errors that it is a frame that cannot be decoded.
 */
tah_status_t tah_frame_read(const void *data, size_t bytes, const uint8_t key[TAH_KEY_BYTES],
                            tah_frame_t *info);

/*
 * Decodes a frame that tah_frame_read accepted into dst (any alignment, capacity bytes, not
 * overlapping the frame).
 * TAH_OK: info->tensor_bytes bytes are written. TAH_ERR_TRUNCATE (capacity too small): nothing is
 * written. TAH_ERR_PAYLOAD, TAH_ERR_UNSUPPORTED, TAH_ERR_MEMORY: dst is undefined up to
 * info->tensor_bytes. Never reads or writes outside the two buffers, whatever the bytes.
 */
tah_status_t tah_decode(const void *frame, size_t bytes, const tah_frame_t *info, tah_pool_t *pool,
                        void *dst, size_t capacity);

/*
 * A pool of this many threads, the calling one included, so that 0 and 1 mean no others; ended by
 * tah_pool_destroy. NULL: out of memory. They are started by the first message that is large enough
 * to be worth them (about 1 MiB), as many as the system allows, block all signals, and sleep
 * between messages; each first calls enter(context, its number from 1), which may bind it to cores,
 * if enter is not NULL. A pool works for one caller at a time; others, and a forked child, then do
 * their message alone.
 */
tah_pool_t *tah_pool_create(unsigned threads, void (*enter)(void *context, unsigned thread),
                            void *context);

/* Ends the threads and frees the pool, which no call may be using; NULL is allowed. */
void tah_pool_destroy(tah_pool_t *pool);

/*
 * Name of the kernel in use: "scalar", "avx2" or "avx512". The best that this processor has, or
 * the one that tah_kernel_select chose.
 */
const char *tah_kernel_name(void);

/*
 * Chooses the kernel by name; NULL or "auto": the best one. Call before the first encoding or
 * decoding, from one thread. TAH_ERR_PARAM: no such kernel; TAH_ERR_UNSUPPORTED: not in this build
 * or not on this processor. The choice is unchanged on error.
 */
tah_status_t tah_kernel_select(const char *name);

#endif
