/* tahmpi try: rate and distortion of codecs on tensors from files; what its parts share. */
#ifndef TRY_H
#define TRY_H

#include "codec/tah.h"
#include "tools/npy.h"

#define TRY_NAME_BYTES 64

/* One codec with its settings, as a policy has them. */
typedef struct try_setting {
    char name[TRY_NAME_BYTES];   /* "tah bits=4/3", or the rule's */
    char family[TRY_NAME_BYTES]; /* the same without bits and rate: a line of the plot */
    tah_params_t params;
    bool rule;         /* of a policy, by whose name it goes */
    bool own_channels; /* the setting says them, or that there are none; else a tensor's last
                          dimension is taken */
} try_setting_t;

/* What a setting makes of one tensor, or of several together. */
typedef struct try_outcome {
    const char *fault; /* why it would be sent as it is; NULL: it is encoded */
    uint32_t channels; /* that it was encoded with; 0: none */
    uint64_t values, tensor_bytes, frame_bytes;
    uint64_t tiles, tiles_rotated;
    double signal, noise, product, power; /* sums of x^2, (x - y)^2, x y, y^2 */
    double worst_tile;                    /* dB: the lowest of all tiles; infinite if exact,
                             minus infinite if zeros came back as something else */
    double encode_seconds, decode_seconds;
} try_outcome_t;

/* Encodes and decodes a tensor and compares what comes back. False: out of memory. */
bool try_measure(const try_setting_t *setting, const npy_t *tensor, try_outcome_t *outcome);

/* Adds what was measured of another tensor. */
void try_add(try_outcome_t *sum, const try_outcome_t *outcome);

double try_bits(const try_outcome_t *outcome);   /* of a frame, a value */
double try_sqnr(const try_outcome_t *outcome);   /* dB; as of worst_tile */
double try_cosine(const try_outcome_t *outcome); /* between what was sent and what comes back */

typedef struct
try {
    char **paths;
    int path_count;
    try_setting_t *settings;
    int setting_count;
    try_outcome_t *outcomes; /* [setting] of all together, then [path][setting] */
    double sqnr;             /* dB that are wanted; NAN: none */
    const char *json, *csv, *plot;
}
try_t;

/* The row of a file, or with path = path_count of all together. */
try_outcome_t *try_outcome(const try_t *try, int path, int setting);

/* The setting with the fewest bits that reaches the wanted SQNR in every file; -1: none. */
int try_suggest(const try_t *try);

void try_print(const try_t *try);

/* Write the files that were asked for; false with a complaint. */
bool try_write_json(const try_t *try);
bool try_write_csv(const try_t *try);
bool try_write_plot(const try_t *try);

#endif
