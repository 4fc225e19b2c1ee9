/* Buffers with guard zones, and data that can be made again from a seed. */
#define _GNU_SOURCE
#include "tests/lib/mt.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/mt_internal.h"

enum { GUARD_BYTES = 256, PATTERN = 0xA5 };

/* At the start of the mapping, before the first guard zone. */
typedef struct header {
    size_t bytes;
    size_t mapped;
    size_t padding[6];
} header_t;

static atomic_int mt_live;

static header_t *header_of(const void *data)
{
    return (header_t *)((char *)data - GUARD_BYTES) - 1;
}

void *mt_alloc(size_t bytes)
{
    size_t mapped = sizeof(header_t) + GUARD_BYTES + bytes + GUARD_BYTES;
    header_t *header =
        mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (header == MAP_FAILED)
        mt_die("no memory for a buffer");
    header->bytes = bytes;
    header->mapped = mapped;
    memset(header + 1, PATTERN, GUARD_BYTES + bytes + GUARD_BYTES);
    atomic_fetch_add(&mt_live, 1);
    return (char *)(header + 1) + GUARD_BYTES;
}

void *mt_alloc_sealed(size_t count, mt_kind_t kind, unsigned seed)
{
    void *data = mt_alloc(count * mt_kind_bytes(kind));
    mt_fill(data, count, kind, seed);
    mt_seal(data);
    return data;
}

void mt_seal(void *data)
{
    header_t *header = header_of(data);
    if (mprotect(header, header->mapped, PROT_READ) != 0)
        mt_die("cannot make a buffer read-only");
}

void mt_wipe(void *data)
{
    memset(data, PATTERN, header_of(data)->bytes);
}

/* First byte from..to-1 that is not the pattern; to if there is none. */
static size_t first_written(const unsigned char *data, size_t from, size_t to)
{
    while (from < to && data[from] == PATTERN)
        from++;
    return from;
}

void mt_untouched(const char *label, const void *data, size_t from, size_t to)
{
    size_t at = first_written(data, from, to);
    if (at < to)
        mt_say("BAD %s written at byte %zu of %zu..%zu", label, at, from, to);
}

void mt_free(void *data)
{
    header_t *header = header_of(data);
    const unsigned char *before = (const unsigned char *)data - GUARD_BYTES;
    const unsigned char *after = (const unsigned char *)data + header->bytes;
    if (first_written(before, 0, GUARD_BYTES) < GUARD_BYTES)
        mt_say("BAD guard before a buffer of %zu bytes written", header->bytes);
    size_t at = first_written(after, 0, GUARD_BYTES);
    if (at < GUARD_BYTES)
        mt_say("BAD guard %zu bytes past a buffer of %zu bytes written", at, header->bytes);
    munmap(header, header->mapped);
    atomic_fetch_sub(&mt_live, 1);
}

void mt_buffers_end(void)
{
    if (atomic_load(&mt_live) != 0)
        mt_say("BAD %d buffers not freed", atomic_load(&mt_live));
}

static const struct {
    size_t bytes;
    const char *name;
    MPI_Datatype type;
} kinds[] = {
    [MT_FLOAT] = {sizeof(float), "float", MPI_FLOAT},
    [MT_DOUBLE] = {sizeof(double), "double", MPI_DOUBLE},
    [MT_INT] = {sizeof(int32_t), "int", MPI_INT},
    [MT_BYTES] = {1, "bytes", MPI_BYTE},
    [MT_NOISE] = {1, "noise", MPI_BYTE},
};

size_t mt_kind_bytes(mt_kind_t kind)
{
    return kinds[kind].bytes;
}

const char *mt_kind_name(mt_kind_t kind)
{
    return kinds[kind].name;
}

MPI_Datatype mt_kind_type(mt_kind_t kind)
{
    return kinds[kind].type;
}

static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* Bits set in a random word are nearly Gaussian; every 97th column is an outlier channel. */
static float gaussian(uint64_t random, size_t index)
{
    float value = (float)(__builtin_popcount((uint32_t)random) - 16) * 0.25f;
    return index % 97 == 5 ? value * 16 : value;
}

/* Element index of what kind and seed stand for, at most 8 bytes of it, into element. */
static void element_fill(void *element, size_t index, mt_kind_t kind, unsigned seed)
{
    uint64_t random = mix(((uint64_t)seed << 32) + index);
    float single = gaussian(random, index);
    double twice = single;
    int32_t integer = (int32_t)(random & 15);
    unsigned char byte = (unsigned char)(kind == MT_BYTES ? random & 3 : random >> 11);
    const void *from[] = {&single, &twice, &integer, &byte, &byte};
    memcpy(element, from[kind], kinds[kind].bytes);
}

void mt_fill(void *data, size_t count, mt_kind_t kind, unsigned seed)
{
    size_t size = kinds[kind].bytes;
    for (size_t i = 0; i < count; i++)
        element_fill((char *)data + i * size, i, kind, seed);
}

uint64_t mt_hash(const void *data, size_t bytes)
{
    uint64_t hash = bytes;
    for (size_t i = 0; i < bytes; i++)
        hash = mix(hash ^ ((const unsigned char *)data)[i]);
    return hash;
}

/* The sums that tell how far floats are off. */
typedef struct error_sums {
    double signal, noise, largest, worst;
    size_t first_wrong; /* element, or SIZE_MAX */
} error_sums_t;

static void error_add(error_sums_t *sums, const void *got, const void *expected, size_t index,
                      mt_kind_t kind)
{
    size_t size = kinds[kind].bytes;
    if (memcmp(got, expected, size) != 0 && sums->first_wrong == SIZE_MAX)
        sums->first_wrong = index;
    if (kind != MT_FLOAT)
        return;
    float x, y;
    memcpy(&x, expected, size);
    memcpy(&y, got, size);
    double error = fabs((double)x - y);
    sums->signal += (double)x * x;
    sums->noise += error * error;
    sums->largest = fmax(sums->largest, fabs(x));
    sums->worst = isnan(error) ? INFINITY : fmax(sums->worst, error);
}

static bool error_say(const char *label, const error_sums_t *sums, mt_kind_t kind)
{
    if (sums->first_wrong == SIZE_MAX)
        mt_say("data %s exact", label);
    else if (kind == MT_FLOAT && isfinite(sums->worst) && sums->largest > 0)
        mt_say("data %s off %.4f %.4f", label, sqrt(sums->noise / sums->signal),
               sums->worst / sums->largest);
    else
        mt_say("data %s WRONG at %zu", label, sums->first_wrong);
    return sums->first_wrong == SIZE_MAX;
}

bool mt_check(const char *label, const void *data, size_t count, mt_kind_t kind, unsigned seed)
{
    error_sums_t sums = {.first_wrong = SIZE_MAX};
    size_t size = kinds[kind].bytes;
    for (size_t i = 0; i < count; i++) {
        unsigned char expected[8];
        element_fill(expected, i, kind, seed);
        error_add(&sums, (const char *)data + i * size, expected, i, kind);
    }
    return error_say(label, &sums, kind);
}

bool mt_check_against(const char *label, const void *data, const void *expected, size_t count,
                      mt_kind_t kind)
{
    error_sums_t sums = {.first_wrong = SIZE_MAX};
    size_t size = kinds[kind].bytes;
    for (size_t i = 0; i < count; i++)
        error_add(&sums, (const char *)data + i * size, (const char *)expected + i * size, i, kind);
    return error_say(label, &sums, kind);
}

size_t mt_odd_count(size_t bytes, mt_kind_t kind)
{
    size_t size = kinds[kind].bytes;
    return (bytes / 128 * 128 - 16) / size;
}
