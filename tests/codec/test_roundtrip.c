/* Encode, decode, and compare with what the format promises of every element. */
#include "tests/codec/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct shape {
    size_t tokens, channels; /* channels 0: not given; tokens is then the number of elements */
} shape_t;

static const shape_t shapes[] = {
    {1, 0},   {2, 0},    {15, 0},   {16, 0},  {17, 0},  {63, 0},    {64, 0},  {65, 0},
    {255, 0}, {1000, 0}, {4099, 0}, {1, 1},   {5, 1},   {3, 7},     {2, 64},  {9, 120},
    {40, 96}, {7, 256},  {130, 65}, {3, 512}, {2, 777}, {70, 1024}, {66, 16},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static size_t shape_count(const shape_t *shape)
{
    return shape->tokens * (shape->channels ? shape->channels : 1);
}

/* Activations of a kind: channels of different size and mean, now and then a large element. */
static float *data_make(const shape_t *shape, uint64_t seed)
{
    const size_t count = shape_count(shape);
    float *x = support_alloc(count * sizeof *x);
    rng_t rng = {seed};
    for (size_t i = 0; i < count; i++) {
        const double size = 0.2 + (double)(i % 13) / 5;
        x[i] = (float)(size * rng_normal(&rng) + (double)(i % 3) - 1);
        if (rng_next(&rng) % 97 == 0)
            x[i] *= 30;
    }
    return x;
}

/* v = H x / p over the p elements that x with its pivot in front is padded to. */
static void transform(const float *x, size_t n, size_t p, double *v)
{
    size_t pivot = 0;
    for (size_t i = 1; i < n; i++)
        if (fabsf(x[i]) > fabsf(x[pivot]))
            pivot = i;
    for (size_t row = 0; row < p; row++) {
        v[row] = 0;
        for (size_t i = 0; i < n; i++) {
            const size_t at = i == pivot ? 0 : i == 0 ? pivot : i;
            v[row] += (__builtin_popcountll(row & at) & 1 ? -1.0 : 1.0) * x[i] / (double)p;
        }
    }
}

static double range_of(const double *v, size_t n)
{
    double low = v[0], high = v[0];
    for (size_t i = 1; i < n; i++) {
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
    }
    return high - low;
}

static double range_of_floats(const float *x, size_t n)
{
    float low = x[0], high = x[0];
    for (size_t i = 1; i < n; i++) {
        low = fminf(low, x[i]);
        high = fmaxf(high, x[i]);
    }
    return (double)high - low;
}

static bool has_pivot(const float *x, size_t n)
{
    float first = 0, second = 0;
    for (size_t i = 0; i < n; i++) {
        const float magnitude = fabsf(x[i]);
        if (magnitude > first) {
            second = first;
            first = magnitude;
        } else if (magnitude > second) {
            second = magnitude;
        }
    }
    return n > 1 && first >= 2 * second;
}

/*
 * A code is at most half a step off (a little more for the 16 bits that distances are cut to); the
 * step is the range divided by the last code, rounded up by at most 2^-8. Elements are cut to 2^-21
 * of the largest. A rotated tile keeps that in the mean square over the tile.
 */
static void tile_check(const float *x, const float *y, size_t n, unsigned bits, bool rotates)
{
    const double levels = (1 << bits) - 1;
    double largest = 0, square = 0, worst = 0;
    for (size_t i = 0; i < n; i++) {
        const double error = fabs((double)x[i] - y[i]);
        largest = fmax(largest, fabs(x[i]));
        worst = fmax(worst, error);
        square += error * error;
    }
    if (rotates && has_pivot(x, n)) {
        size_t p = 1;
        while (p < n)
            p *= 2;
        double v[256];
        transform(x, n, p, v);
        const double step = range_of(v, p) / levels * (1 + 0x1p-8) + largest * 0x1p-12;
        ck_assert_double_le(square, pow(0.53 * step * (double)p, 2));
        return;
    }
    const double step = range_of_floats(x, n) / levels * (1 + 0x1p-8);
    ck_assert_double_le(worst, 0.53 * step + largest * 0x1p-21);
}

/* Every element of a message, by tiles; bits is the least width that a tile can have. */
static void message_check(const shape_t *shape, const tah_params_t *params, const float *x,
                          const float *y, unsigned bits)
{
    const size_t count = shape_count(shape), row = shape->channels ? shape->channels : count;
    const bool rotates = params->codec == TAH_CODEC_TAH && params->hadamard != TAH_HADAMARD_OFF;
    for (size_t start = 0; start < count; start += row) {
        for (size_t at = 0; at < row; at += params->tile) {
            const size_t n = row - at < params->tile ? row - at : params->tile;
            tile_check(x + start + at, y + start + at, n, bits, rotates);
        }
    }
}

static void roundtrip(const tah_params_t *params, const shape_t *shape, unsigned bits)
{
    const size_t count = shape_count(shape);
    float *x = data_make(shape, count * 31 + params->tile);
    float *y = support_alloc(count * sizeof *y);
    tah_encoded_t result;
    uint8_t *frame = support_encode(params, x, count, &result);
    support_decode(frame, result.frame_bytes, y, count * sizeof *y);
    message_check(shape, params, x, y, bits);
    free(frame);
    free(x);
    free(y);
}

START_TEST(uniform_every_width_tile_and_shape)
{
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_UNIFORM);
    params.bits_high = (uint8_t)_i;
    for (params.tile = 16; params.tile <= 256; params.tile *= 2) {
        for (int s = 0; s < SHAPES; s++) {
            params.channels = (uint32_t)shapes[s].channels;
            roundtrip(&params, &shapes[s], params.bits_high);
        }
    }
}
END_TEST

START_TEST(tah_every_width_tile_and_shape)
{
    static const tah_hadamard_t transforms[] = {TAH_HADAMARD_PUBLISHED, TAH_HADAMARD_OFF};
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_TAH);
    params.bits_high = (uint8_t)_i;
    for (params.bits_low = 2; params.bits_low <= params.bits_high; params.bits_low++) {
        for (params.tile = 16; params.tile <= 256; params.tile *= 2) {
            for (int s = 0; s < SHAPES; s++) {
                params.channels = (uint32_t)shapes[s].channels;
                params.hadamard = transforms[(s + params.tile / 16) % 2];
                params.allocate = (tah_allocate_t)(s % 3);
                roundtrip(&params, &shapes[s], params.bits_low);
            }
        }
    }
}
END_TEST

/* Exactly floor(units * (1 - fraction)) units have the low width, and they have the lowest keys. */
START_TEST(share_of_low_width)
{
    static const struct {
        float fraction;
        size_t tokens, high; /* of tokens */
    } cases[] = {{0.8f, 10, 8}, {0.8f, 7, 6}, {1, 9, 9}, {0, 9, 0}, {0.5f, 9, 5}, {0.999f, 9, 9}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const shape_t shape = {cases[c].tokens, 128};
        tah_params_t params;
        tah_params_init(&params, TAH_CODEC_TAH);
        params.channels = 128;
        params.high_fraction = cases[c].fraction;
        float *x = data_make(&shape, c);
        tah_encoded_t result;
        free(support_encode(&params, x, shape_count(&shape), &result));
        ck_assert_uint_eq(result.tiles, 2 * cases[c].tokens);
        ck_assert_uint_eq(result.tiles_high, 2 * cases[c].high);
        free(x);
    }
}
END_TEST

/* Tokens of low entropy, one of zeros among them, come back at the low width, others do not. */
START_TEST(low_entropy_gets_low_width)
{
    enum { TOKENS = 20, CHANNELS = 64 };
    static const unsigned low_tokens[] = {3, 4, 11, 19};
    float x[TOKENS * CHANNELS], y[TOKENS * CHANNELS];
    rng_t rng = {5};
    for (int i = 0; i < TOKENS * CHANNELS; i++)
        x[i] = (float)(1 + rng_uniform(&rng));
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < CHANNELS; c++)
            x[low_tokens[k] * CHANNELS + c] *= k == 3 ? 0 : c < 8 ? 1 : 0.01f;
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_TAH);
    params.channels = CHANNELS;
    params.bits_high = 8;
    params.bits_low = 2;
    params.hadamard = TAH_HADAMARD_OFF;
    tah_encoded_t result;
    uint8_t *frame = support_encode(&params, x, TOKENS * CHANNELS, &result);
    support_decode(frame, result.frame_bytes, y, sizeof y);
    for (unsigned t = 0; t < TOKENS; t++) {
        const bool low = t == 3 || t == 4 || t == 11 || t == 19;
        const double range = range_of_floats(x + t * CHANNELS, CHANNELS);
        double worst = 0;
        for (unsigned c = 0; c < CHANNELS; c++)
            worst = fmax(worst, fabs((double)x[t * CHANNELS + c] - y[t * CHANNELS + c]));
        if (low && t != 19)
            ck_assert_double_gt(worst, range / 255);
        else
            ck_assert_double_le(worst, range / 255);
    }
    free(frame);
}
END_TEST

/* Source, frame and destination at every alignment give the same bytes. */
START_TEST(any_alignment)
{
    enum { COUNT = 5 * 136 };
    const shape_t shape = {5, 136};
    float *x = data_make(&shape, 77);
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_TAH);
    params.channels = 136;
    tah_encoded_t result;
    uint8_t *frame = support_encode(&params, x, COUNT, &result);
    float *y = support_alloc(COUNT * sizeof *y);
    support_decode(frame, result.frame_bytes, y, COUNT * sizeof *y);

    const size_t bound = tah_frame_bound(&params, COUNT), offset = (size_t)_i;
    uint8_t *src = support_alloc(COUNT * sizeof *x + 16), *other = support_alloc(bound + 16);
    memcpy(src + offset, x, COUNT * sizeof *x);
    const tah_message_t message = support_message();
    tah_encoded_t again;
    ck_assert_int_eq(tah_encode(&params, &message, src + offset, COUNT, other + 16 - offset, bound,
                                &again),
                     TAH_OK);
    ck_assert_uint_eq(again.frame_bytes, result.frame_bytes);
    ck_assert_mem_eq(other + 16 - offset, frame, result.frame_bytes);
    support_decode(other + 16 - offset, again.frame_bytes, src + offset, COUNT * sizeof *x);
    ck_assert_mem_eq(src + offset, y, COUNT * sizeof *y);
    free(src);
    free(other);
    free(x);
    free(y);
    free(frame);
}
END_TEST

/* All overhead included: what the published setting takes on the wire. */
START_TEST(wire_bits_of_the_published_setting)
{
    const shape_t shape = {1024, 256};
    float *x = data_make(&shape, 3);
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_TAH);
    params.channels = 256;
    tah_encoded_t result;
    free(support_encode(&params, x, shape_count(&shape), &result));
    ck_assert_double_le(8.0 * (double)result.frame_bytes / (double)shape_count(&shape), 4.5);
    free(x);
}
END_TEST

/* measure gives the sums that a caller would get from decoding. */
START_TEST(measured_signal_and_noise)
{
    const shape_t shape = {33, 120};
    const size_t count = shape_count(&shape);
    float *x = data_make(&shape, 9), *y = support_alloc(count * sizeof *y);
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_TAH);
    params.channels = 120;
    tah_message_t message = support_message();
    message.measure = true;
    const size_t bound = tah_frame_bound(&params, count);
    uint8_t *frame = support_alloc(bound);
    tah_encoded_t result;
    ck_assert_int_eq(tah_encode(&params, &message, x, count, frame, bound, &result), TAH_OK);
    support_decode(frame, result.frame_bytes, y, count * sizeof *y);
    double signal = 0, noise = 0;
    for (size_t i = 0; i < count; i++) {
        signal += (double)x[i] * x[i];
        noise += ((double)x[i] - y[i]) * ((double)x[i] - y[i]);
    }
    ck_assert(result.measured);
    ck_assert_double_eq_tol(result.signal / signal, 1, 1e-12);
    ck_assert_double_eq_tol(result.noise / noise, 1, 1e-12);
    free(frame);
    free(x);
    free(y);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("roundtrip");
    TCase *tests = tcase_create("roundtrip");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, uniform_every_width_tile_and_shape, 2, 9);
    tcase_add_loop_test(tests, tah_every_width_tile_and_shape, 2, 9);
    tcase_add_test(tests, share_of_low_width);
    tcase_add_test(tests, low_entropy_gets_low_width);
    tcase_add_loop_test(tests, any_alignment, 0, 16);
    tcase_add_test(tests, wire_bits_of_the_published_setting);
    tcase_add_test(tests, measured_signal_and_noise);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
