/*
 * Speed and error of codecs on the same tensors in one run: memcpy, every codec of ours by every
 * kernel that this processor has, zfp and zstd. Contenders take turns, so that what disturbs the
 * machine hits all of them, and the least time of each counts.
 */
#include "config.h"

#include "tests/bench/bench.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define MOST 256      /* codecs, contenders or tensors */
#define BURST 3       /* runs of a contender in one turn: the first finds the caches cold */
#define LEAST_TURNS 3 /* even of a slow contender */
#define SECONDS_DEFAULT 2.0

typedef struct options {
    const char *tensors[MOST], *codecs[MOST], *kernels[MOST];
    size_t tensor_count, codec_count, kernel_count, thread_count;
    unsigned threads[MOST];
    tah_pool_t *pools[MOST]; /* one for each of the line above */
    tensor_wish_t wish;
    long repeat;
    double seconds; /* after which a contender takes no further turns */
    bool cold, csv;
} options_t;

static const char *const default_codecs[] = {
    "tah",
    "tah allocate=range",
    "tah allocate=range hadamard=best",
    "uniform",
    "tahx",
    "tahx error=token",
    "lossless",
    "zfp",
    "zstd",
};

static const char help[] =
    "Usage: codec_bench [OPTION]... [TENSOR]...\n"
    "\n"
    "Measures codecs on tensors: a .npy file, or the name of a generated one (default: all):\n"
    "gaussian, massive-channels, huge-channels, massive-tokens, scattered, pivots.\n"
    "\n"
    "  --codec 'NAME KEY=VALUE ...'  a codec and its settings as in a policy; zfp (rate=),\n"
    "                                zstd (level=); may be given several times (default: all)\n"
    "  --kernel NAME                 scalar, avx2 or avx512; several times (default: all here)\n"
    "  --threads N                   that share a message; several times (default: 1)\n"
    "  --size BYTES                  of generated tensors: 64K, 8M (default), 1G\n"
    "  --channels N                  elements of a token (default: 1024; of a file, its last\n"
    "                                dimension)\n"
    "  --dtype NAME                  of generated tensors: float32 (default), bfloat16, float16,\n"
    "                                float64\n"
    "  --seed N                      of generated tensors (default: 1)\n"
    "  --repeat N                    turns of each contender, 3 runs each (default: 20)\n"
    "  --seconds S                   turns of a slow contender end after this (default: 2)\n"
    "  --cold                        everything out of the caches before each run, as a program\n"
    "                                often has it\n"
    "  --csv                         comma-separated values\n"
    "  --help\n"
    "\n"
    "Example: codec_bench --codec tah --codec 'tahx rate=3.5' --size 64M gaussian\n";

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

__attribute__((noreturn)) static void die(const char *why)
{
    fprintf(stderr, "codec_bench: %s\n", why);
    exit(EXIT_FAILURE);
}

__attribute__((noreturn)) static void die_option(const char *option, const char *value,
                                                 const char *allowed)
{
    fprintf(stderr, "codec_bench: --%s %s: must be %s\n", option, value, allowed);
    exit(EXIT_FAILURE);
}

/* A whole number with an optional K, M or G behind it. */
static uint64_t number(const char *option, const char *value, uint64_t least, uint64_t most)
{
    char *end, allowed[96];
    errno = 0;
    uint64_t result = strtoull(value, &end, 10);
    const char *unit = strchr("KMG", *end);
    const unsigned shift = *end && unit ? 10 * (unsigned)(unit - "KMG" + 1) : 0;
    end += shift != 0;
    snprintf(allowed, sizeof allowed, "a whole number from %llu to %llu (K, M, G: times 1024 ...)",
             (unsigned long long)least, (unsigned long long)most);
    if (errno || *value < '0' || *value > '9' || *end || result > most >> shift ||
        (result <<= shift) < least)
        die_option(option, value, allowed);
    return result;
}

static tah_dtype_t dtype_of(const char *name)
{
    for (int dtype = TAH_FLOAT32; dtype < TAH_DTYPE_COUNT; dtype++)
        if (strcmp(name, tah_dtype_name((tah_dtype_t)dtype)) == 0)
            return (tah_dtype_t)dtype;
    die_option("dtype", name, "float32, bfloat16, float16 or float64");
}

static void add(const char *list[], size_t *count, const char *name)
{
    if (*count == MOST)
        die("too many codecs, kernels or tensors");
    list[(*count)++] = name;
}

static void add_kernel(options_t *options, const char *name)
{
    const tah_status_t status = tah_kernel_select(name);
    if (status == TAH_ERR_UNSUPPORTED)
        die_option("kernel", name, "one that this build and this processor have");
    if (status != TAH_OK)
        die_option("kernel", name, "scalar, avx2 or avx512");
    add(options->kernels, &options->kernel_count, name);
}

static void add_threads(options_t *options, unsigned threads)
{
    if (options->thread_count == MOST)
        die("too many numbers of threads");
    options->threads[options->thread_count] = threads;
    options->pools[options->thread_count] = tah_pool_create(threads, NULL, NULL);
    if (!options->pools[options->thread_count++])
        die("out of memory");
}

static double seconds_of(const char *value)
{
    char *end;
    const double seconds = strtod(value, &end);
    if (end == value || *end || !(seconds > 0))
        die_option("seconds", value, "a number above 0");
    return seconds;
}

/* What was not asked for otherwise: all there is. */
static void options_complete(options_t *options)
{
    static const char *const kernels[] = {"scalar", "avx2", "avx512"};
    if (options->kernel_count == 0)
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
            if (tah_kernel_select(kernels[i]) == TAH_OK)
                add(options->kernels, &options->kernel_count, kernels[i]);
    if (options->thread_count == 0)
        add_threads(options, 1);
    if (options->codec_count == 0)
        for (size_t i = 0; i < sizeof default_codecs / sizeof *default_codecs; i++)
            add(options->codecs, &options->codec_count, default_codecs[i]);
    if (options->tensor_count == 0)
        for (size_t i = 0; tensor_generated(i); i++)
            add(options->tensors, &options->tensor_count, tensor_generated(i));
}

static void options_read(int argc, char **argv, options_t *options)
{
    enum { CODEC = 1, KERNEL, THREADS, SIZE, CHANNELS, DTYPE, SEED, REPEAT, SECONDS, COLD, CSV, HELP };
    static const struct option known[] = {
        {"codec", required_argument, NULL, CODEC},
        {"kernel", required_argument, NULL, KERNEL},
        {"threads", required_argument, NULL, THREADS},
        {"size", required_argument, NULL, SIZE},
        {"channels", required_argument, NULL, CHANNELS},
        {"dtype", required_argument, NULL, DTYPE},
        {"seed", required_argument, NULL, SEED},
        {"repeat", required_argument, NULL, REPEAT},
        {"seconds", required_argument, NULL, SECONDS},
        {"cold", no_argument, NULL, COLD},
        {"csv", no_argument, NULL, CSV},
        {"help", no_argument, NULL, HELP},
        {0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (option) {
        case CODEC:
            add(options->codecs, &options->codec_count, optarg);
            break;
        case KERNEL:
            add_kernel(options, optarg);
            break;
        case THREADS:
            add_threads(options, (unsigned)number("threads", optarg, 1, 1024));
            break;
        case SIZE:
            options->wish.bytes = number("size", optarg, 1, UINT64_C(1) << 40);
            break;
        case CHANNELS:
            options->wish.channels = (uint32_t)number("channels", optarg, 1, UINT32_MAX);
            break;
        case DTYPE:
            options->wish.dtype = dtype_of(optarg);
            break;
        case SEED:
            options->wish.seed = number("seed", optarg, 0, UINT64_MAX);
            break;
        case REPEAT:
            options->repeat = (long)number("repeat", optarg, 1, 1000000);
            break;
        case SECONDS:
            options->seconds = seconds_of(optarg);
            break;
        case COLD:
#ifndef __SSE2__
            die("--cold needs an x86 processor");
#endif
            options->cold = true;
            break;
        case CSV:
            options->csv = true;
            break;
        case HELP:
            fputs(help, stdout);
            exit(EXIT_SUCCESS);
        default:
            fputs("codec_bench: --help lists the options\n", stderr);
            exit(EXIT_FAILURE);
        }
    }
    while (optind < argc)
        add(options->tensors, &options->tensor_count, argv[optind++]);
    options_complete(options);
}

static void *allocate(size_t bytes)
{
    void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!memory)
        die("out of memory");
    return memory;
}

/* All contenders for a tensor, memcpy first; returns their number. */
static size_t contenders_list(const options_t *options, const tensor_t *tensor,
                              contender_t *contenders)
{
    char why[512];
    size_t count = 0;
    contender_init(&contenders[count++], "memcpy", tensor, why, sizeof why);
    for (size_t i = 0; i < options->codec_count; i++) {
        contender_t contender;
        if (!contender_built(options->codecs[i])) {
            fprintf(stderr, "codec_bench: %s is not in this build: left out\n", options->codecs[i]);
            continue;
        }
        if (!contender_init(&contender, options->codecs[i], tensor, why, sizeof why))
            die(why);
        const size_t kernels = contender_has_kernels(&contender) ? options->kernel_count : 1;
        const size_t threads = contender_has_threads(&contender) ? options->thread_count : 1;
        for (size_t k = 0; k < kernels * threads; k++) {
            if (contender_has_kernels(&contender))
                contender.kernel = options->kernels[k / threads];
            if (contender_has_threads(&contender)) {
                contender.threads = options->threads[k % threads];
                contender.pool = options->pools[k % threads];
            }
            if (count == MOST)
                die("too many codecs");
            contenders[count++] = contender;
        }
    }
    return count;
}

/* Has all caches forget these bytes. */
static void caches_forget(const void *data, size_t bytes)
{
#ifdef __SSE2__
    for (size_t i = 0; i < bytes; i += 64)
        _mm_clflush((const char *)data + i);
    _mm_mfence();
#endif
}

/* One turn of a contender: a burst of encodings, then one of decodings. */
static void turn(const contender_t *contender, const tensor_t *tensor, bool cold, uint8_t *out,
                 size_t room, uint8_t *back, result_t *result)
{
    if (contender_has_kernels(contender))
        tah_kernel_select(contender->kernel);
    for (int i = 0; i < 2 * BURST && !result->fault[0]; i++) {
        const bool encode = i < BURST;
        double *const least = encode ? &result->encode : &result->decode;
        if (cold) {
            caches_forget(tensor->data, tensor->bytes);
            caches_forget(out, room);
            caches_forget(back, tensor->bytes);
        }
        const double start = now();
        if (encode)
            contender_encode(contender, tensor, out, room, result);
        else
            contender_decode(contender, tensor, out, back, result);
        const double seconds = now() - start;
        *least = *least == 0 || seconds < *least ? seconds : *least;
    }
}

static void measure(const options_t *options, const tensor_t *tensor)
{
    static contender_t contenders[MOST];
    static result_t results[MOST];
    static double spent[MOST];
    const size_t count = contenders_list(options, tensor, contenders);
    size_t room = tensor->bytes;
    for (size_t i = 0; i < count; i++) {
        const size_t own = contender_room(&contenders[i], tensor);
        room = own > room ? own : room;
    }
    uint8_t *const out = allocate(room), *const back = allocate(tensor->bytes);
    memset(out, 0, room);
    memset(back, 0, tensor->bytes);
    for (long repeat = 0; repeat < options->repeat; repeat++) {
        for (size_t i = 0; i < count; i++) {
            result_t *const result = &results[i];
            if (repeat == 0) {
                *result = (result_t){0};
                spent[i] = 0;
            } else if (result->fault[0] || (repeat >= LEAST_TURNS && spent[i] > options->seconds)) {
                continue;
            }
            const double start = now();
            turn(&contenders[i], tensor, options->cold, out,
                 contender_room(&contenders[i], tensor), back, result);
            spent[i] += now() - start;
            if (repeat == 0 && !result->fault[0])
                tensor_error(tensor, back, &result->absolute, &result->token);
        }
    }
    (options->csv ? print_csv : print_table)(tensor, options->cold, contenders, results, count);
    free(out);
    free(back);
}

int main(int argc, char **argv)
{
    static options_t options = {
        .wish = {.bytes = 8 << 20, .dtype = TAH_FLOAT32, .seed = 1},
        .repeat = 20,
        .seconds = SECONDS_DEFAULT,
    };
    options_read(argc, argv, &options);
    if (options.csv)
        print_csv_head();
    for (size_t i = 0; i < options.tensor_count; i++) {
        tensor_t tensor;
        char why[512];
        if (!tensor_open(options.tensors[i], &options.wish, &tensor, why, sizeof why))
            die(why);
        measure(&options, &tensor);
        tensor_free(&tensor);
        fflush(stdout);
    }
    for (size_t i = 0; i < options.thread_count; i++)
        tah_pool_destroy(options.pools[i]);
    return 0;
}
