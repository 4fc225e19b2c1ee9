/* The pool: frames and tensors do not depend on threads, and every use of a pool is a safe one. */
#include "tests/codec/support.h"

#include "codec/convert.h"
#include "codec/frame.h"
#include "codec/pool.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHANNELS = 1000, TOKENS = 700, COUNT = CHANNELS * TOKENS, ROOM = 8 * COUNT };

static uint8_t data[ROOM]; /* COUNT elements of a type */
static const unsigned threads[] = {1, 2, 3, 7};

/* One way to encode; the tensor has specials, so that parts differ in length. */
typedef struct setting {
    tah_codec_t codec;
    tah_dtype_t dtype;
    uint16_t tile;
    tah_allocate_t allocate;
    tah_error_t error;
    tah_rounding_t rounding;
} setting_t;

static const setting_t settings[] = {
    {TAH_CODEC_TAH, TAH_FLOAT32, 64, TAH_ALLOCATE_TOKEN, 0, TAH_ROUND_NEAREST},
    {TAH_CODEC_TAH, TAH_FLOAT32, 16, TAH_ALLOCATE_TILE, 0, TAH_ROUND_STOCHASTIC},
    {TAH_CODEC_TAH, TAH_BFLOAT16, 32, TAH_ALLOCATE_RANGE, 0, TAH_ROUND_NEAREST},
    {TAH_CODEC_UNIFORM, TAH_FLOAT16, 256, 0, 0, TAH_ROUND_NEAREST},
    {TAH_CODEC_UNIFORM, TAH_FLOAT64, 128, 0, 0, TAH_ROUND_NEAREST},
    {TAH_CODEC_TAHX, TAH_FLOAT32, 32, 0, TAH_ERROR_ABSOLUTE, TAH_ROUND_NEAREST},
    {TAH_CODEC_TAHX, TAH_FLOAT32, 64, 0, TAH_ERROR_TOKEN, TAH_ROUND_NEAREST},
    {TAH_CODEC_TAHX, TAH_BFLOAT16, 16, 0, TAH_ERROR_TOKEN, TAH_ROUND_NEAREST},
    {TAH_CODEC_TAHX, TAH_FLOAT64, 256, 0, TAH_ERROR_ABSOLUTE, TAH_ROUND_NEAREST},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static tah_params_t params_of(const setting_t *setting)
{
    tah_params_t params;
    tah_params_init(&params, setting->codec);
    params.dtype = setting->dtype;
    params.tile = setting->tile;
    params.allocate = setting->allocate;
    params.error = setting->error;
    params.rounding = setting->rounding;
    params.channels = CHANNELS;
    params.seed = 3;
    return params;
}

static double value_at(rng_t *rng, size_t i)
{
    switch (i / 5000 % 7) {
    case 1:
        return i / 100 % 3 ? 2.5 : 0;
    case 2:
        return i % 977 == 0 ? NAN : rng_normal(rng);
    case 3:
        return i % 61 == 0 ? 300 : rng_normal(rng);
    default:
        return rng_normal(rng) * (double)(1 + i % 1000 / 100);
    }
}

static void data_make(tah_dtype_t dtype)
{
    rng_t rng = {1};
    for (size_t i = 0; i < COUNT; i++) {
        const double value = value_at(&rng, i);
        const float single = (float)value;
        const uint16_t no_half = 0x7e00; /* NaN */
        if (dtype == TAH_FLOAT64)
            memcpy(data + 8 * i, &value, 8);
        else if (dtype == TAH_FLOAT32)
            memcpy(data + 4 * i, &single, 4);
        else if (dtype == TAH_FLOAT16 && isnan(single))
            memcpy(data + 2 * i, &no_half, 2);
        else if (dtype == TAH_FLOAT16)
            convert_scale(dtype, &single, 0, 1, data + 2 * i);
        else
            memcpy(data + 2 * i, (const uint8_t *)&single + 2, 2);
    }
}

static tah_status_t encode(const tah_params_t *params, tah_pool_t *pool, uint8_t *frame,
                           size_t room, tah_encoded_t *result)
{
    tah_message_t message = support_message();
    message.pool = pool;
    message.measure = true;
    return tah_encode(params, &message, data, COUNT, frame, room, result);
}

START_TEST(frames_and_tensors_do_not_depend_on_threads)
{
    const tah_params_t params = params_of(&settings[_i]);
    uint8_t *one = support_alloc(ROOM), *other = support_alloc(ROOM);
    uint8_t *x = support_alloc(ROOM), *y = support_alloc(ROOM);
    tah_encoded_t first, result;
    tah_frame_t info;
    data_make(params.dtype);
    ck_assert_int_eq(encode(&params, NULL, one, ROOM, &first), TAH_OK);
    support_decode(one, first.frame_bytes, x, ROOM);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        tah_pool_t *pool = tah_pool_create(threads[i], NULL, NULL);
        ck_assert_ptr_nonnull(pool);
        memset(other, 0xff, ROOM);
        memset(y, 0, ROOM);
        ck_assert_int_eq(encode(&params, pool, other, ROOM, &result), TAH_OK);
        ck_assert_mem_eq(&result, &first, sizeof first);
        ck_assert_mem_eq(one, other, first.frame_bytes);
        ck_assert_int_eq(tah_frame_read(other, first.frame_bytes, support_key, &info), TAH_OK);
        ck_assert_int_eq(tah_decode(other, first.frame_bytes, &info, pool, y, ROOM), TAH_OK);
        ck_assert_mem_eq(x, y, ROOM);
        tah_pool_destroy(pool);
    }
    free(one);
    free(other);
    free(x);
    free(y);
}
END_TEST

/* One byte less than the frame has is too little, whoever finds out. */
START_TEST(too_little_room_is_found)
{
    const tah_params_t params = params_of(&settings[_i]);
    uint8_t *frame = support_alloc(ROOM);
    tah_pool_t *pool = tah_pool_create(3, NULL, NULL);
    tah_encoded_t result;
    data_make(params.dtype);
    ck_assert_int_eq(encode(&params, NULL, frame, ROOM, &result), TAH_OK);
    const size_t bytes = result.frame_bytes;
    for (size_t room = bytes - 1; room > TAH_FRAME_MIN; room /= 3) {
        memset(frame, 0xab, bytes);
        ck_assert_int_eq(encode(&params, pool, frame, room, &result), TAH_ERR_SPACE);
        size_t touched = bytes;
        while (touched > room && frame[touched - 1] == 0xab)
            touched--;
        ck_assert_uint_eq(touched, room);
    }
    tah_pool_destroy(pool);
    free(frame);
}
END_TEST

/* Payloads with a damaged byte and a right checksum: the same verdict, and nothing beyond dst. */
START_TEST(damage_is_judged_alike)
{
    const tah_params_t params = params_of(&settings[_i]);
    const size_t tensor = COUNT * tah_dtype_bytes(params.dtype);
    uint8_t *frame = support_alloc(ROOM), *x = support_alloc(tensor), *y = support_alloc(tensor);
    tah_pool_t *pool = tah_pool_create(3, NULL, NULL);
    rng_t rng = {9};
    tah_encoded_t result;
    tah_frame_t info;
    frame_header_t header;
    data_make(params.dtype);
    ck_assert_int_eq(encode(&params, NULL, frame, ROOM, &result), TAH_OK);
    ck_assert_int_eq(frame_parse(frame, result.frame_bytes, &header), TAH_OK);
    for (int round = 0; round < 12; round++) {
        /* Side information comes first; of a tensor of this size it is at least that much. */
        const uint64_t draw = rng_next(&rng);
        uint8_t *at = frame + TAH_HEADER_BYTES + draw % (round % 2 ? header.payload : 2000);
        const uint8_t before = *at;
        *at ^= (uint8_t)(1 + (draw >> 40) % 255);
        frame_finish(&header, support_key, frame);
        ck_assert_int_eq(tah_frame_read(frame, result.frame_bytes, support_key, &info), TAH_OK);
        const tah_status_t alone = tah_decode(frame, result.frame_bytes, &info, NULL, x, tensor);
        const tah_status_t shared = tah_decode(frame, result.frame_bytes, &info, pool, y, tensor);
        ck_assert_int_eq(alone, shared);
        if (alone == TAH_OK)
            ck_assert_mem_eq(x, y, tensor);
        *at = before;
    }
    header.payload--;
    frame_finish(&header, support_key, frame);
    tah_frame_t shorter = info;
    if (tah_frame_read(frame, result.frame_bytes, support_key, &shorter) == TAH_OK)
        ck_assert_int_eq(tah_decode(frame, result.frame_bytes, &shorter, pool, y, tensor),
                         TAH_ERR_PAYLOAD);
    tah_pool_destroy(pool);
    free(frame);
    free(x);
    free(y);
}
END_TEST

typedef struct caller {
    pthread_t thread;
    tah_pool_t *pool;
    const uint8_t *expected;
    size_t bytes;
} caller_t;

static void *call(void *opaque)
{
    const caller_t *caller = opaque;
    const tah_params_t params = params_of(&settings[0]);
    uint8_t *frame = support_alloc(ROOM);
    tah_encoded_t result;
    for (int round = 0; round < 4; round++) {
        ck_assert_int_eq(encode(&params, caller->pool, frame, ROOM, &result), TAH_OK);
        ck_assert_mem_eq(frame, caller->expected, caller->bytes);
    }
    free(frame);
    return NULL;
}

START_TEST(callers_share_a_pool)
{
    const tah_params_t params = params_of(&settings[0]);
    uint8_t *frame = support_alloc(ROOM);
    tah_pool_t *pool = tah_pool_create(3, NULL, NULL);
    caller_t callers[4];
    tah_encoded_t result;
    data_make(TAH_FLOAT32);
    ck_assert_int_eq(encode(&params, NULL, frame, ROOM, &result), TAH_OK);
    for (int i = 0; i < 4; i++) {
        callers[i] = (caller_t){.pool = pool, .expected = frame, .bytes = result.frame_bytes};
        ck_assert_int_eq(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(callers[i].thread, NULL);
    tah_pool_destroy(pool);
    free(frame);
}
END_TEST

static atomic_uint entered, blocked;

static void enter(void *context, unsigned thread)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    atomic_fetch_add(&entered, context == &entered ? thread : 100);
    atomic_fetch_add(&blocked, sigismember(&mask, SIGINT) && sigismember(&mask, SIGALRM) &&
                                   sigismember(&mask, SIGUSR1) && sigismember(&mask, SIGCHLD));
}

static void nothing(void *job, pool_part_t *part)
{
    ck_assert_ptr_null(job);
    (void)part;
}

/* Threads start with the first job that is large enough, and with signals blocked. */
START_TEST(threads_start_late_and_take_no_signals)
{
    sigset_t before, after;
    tah_pool_t *pool = tah_pool_create(4, enter, &entered);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    pool_run(pool, POOL_LEAST_PARTS - 1, nothing, NULL, NULL);
    ck_assert_uint_eq(atomic_load(&entered), 0);
    pool_run(pool, POOL_LEAST_PARTS, nothing, NULL, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    tah_pool_destroy(pool); /* which lets them all begin before they end */
    ck_assert_uint_eq(atomic_load(&entered), 1 + 2 + 3);
    ck_assert_uint_eq(atomic_load(&blocked), 3);
    for (int signal = 1; signal < 32; signal++)
        ck_assert_int_eq(sigismember(&before, signal), sigismember(&after, signal));
    tah_pool_destroy(tah_pool_create(0, NULL, NULL));
    tah_pool_destroy(NULL);
}
END_TEST

/* A forked child has no threads but its own. */
START_TEST(forked_children_work_alone)
{
    const tah_params_t params = params_of(&settings[5]);
    uint8_t *frame = support_alloc(ROOM), *other = support_alloc(ROOM);
    tah_pool_t *pool = tah_pool_create(3, NULL, NULL);
    tah_encoded_t result;
    int status;
    data_make(TAH_FLOAT32);
    ck_assert_int_eq(encode(&params, pool, frame, ROOM, &result), TAH_OK);
    const size_t bytes = result.frame_bytes;
    const pid_t child = fork();
    if (child == 0) {
        const bool good = encode(&params, pool, other, ROOM, &result) == TAH_OK &&
                          memcmp(frame, other, bytes) == 0;
        tah_pool_destroy(pool);
        _exit(good ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(encode(&params, pool, other, ROOM, &result), TAH_OK);
    tah_pool_destroy(pool);
    free(frame);
    free(other);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("threads");
    TCase *tests = tcase_create("threads");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, frames_and_tensors_do_not_depend_on_threads, 0, SETTINGS);
    tcase_add_loop_test(tests, too_little_room_is_found, 0, SETTINGS);
    tcase_add_loop_test(tests, damage_is_judged_alike, 0, SETTINGS);
    tcase_add_test(tests, callers_share_a_pool);
    tcase_add_test(tests, threads_start_late_and_take_no_signals);
    tcase_add_test(tests, forked_children_work_alone);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
