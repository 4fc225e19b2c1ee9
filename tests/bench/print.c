/* What codec_bench prints. The speeds are in bytes of the tensor, whatever the encoding takes. */
#include "tests/bench/bench.h"

#include <stdio.h>

static double gigabytes(const tensor_t *tensor, double seconds)
{
    return (double)tensor->bytes / seconds / 1e9;
}

/* Seconds that memcpy takes, the first contender: there or back, whichever is faster. */
static double memcpy_seconds(const result_t *results)
{
    return results[0].encode < results[0].decode ? results[0].encode : results[0].decode;
}

static double bits_a_value(const tensor_t *tensor, const result_t *result)
{
    return 8.0 * (double)result->bytes / (double)tensor->count;
}

void print_csv_head(void)
{
    puts("tensor,dtype,tokens,channels,tensor_bytes,codec,kernel,threads,bytes,bits,encode_gbs,"
         "encode_ratio,decode_gbs,decode_ratio,nmse_db,token_nmse_db,rotated,left_out,caches");
}

static const char *caches(bool cold)
{
    return cold ? "cold" : "warm";
}

void print_csv(const tensor_t *tensor, bool cold, const contender_t *contenders,
               const result_t *results, size_t count)
{
    const double copy = memcpy_seconds(results);
    for (size_t i = 0; i < count; i++) {
        const result_t *result = &results[i];
        printf("%s,%s,%zu,%u,%zu,%s,%s,%u,", tensor->name, tah_dtype_name(tensor->dtype),
               tensor->count / tensor->channels, (unsigned)tensor->channels, tensor->bytes,
               contenders[i].spec, contenders[i].kernel, contenders[i].threads);
        if (result->fault[0]) {
            printf(",,,,,,,,,%s,%s\n", result->fault, caches(cold));
            continue;
        }
        printf("%zu,%.6f,%.3f,%.4f,%.3f,%.4f,%.3f,%.3f,%.4f,,%s\n", result->bytes,
               bits_a_value(tensor, result), gigabytes(tensor, result->encode),
               copy / result->encode, gigabytes(tensor, result->decode), copy / result->decode,
               result->absolute, result->token, result->rotated, caches(cold));
    }
}

void print_table(const tensor_t *tensor, bool cold, const contender_t *contenders,
                 const result_t *results, size_t count)
{
    const double copy = memcpy_seconds(results);
    printf("%s: %s, %zu tokens x %u channels, %.3g MiB, %s; GB/s and ratio to memcpy; NMSE in dB, "
           "absolute and relative to each token\n",
           tensor->name, tah_dtype_name(tensor->dtype), tensor->count / tensor->channels,
           (unsigned)tensor->channels, (double)tensor->bytes / 0x1p20, caches(cold));
    printf("%-36s %-7s %7s %8s %6s %8s %6s %7s %8s %8s %8s\n", "codec", "kernel", "threads",
           "encode", "ratio", "decode", "ratio", "bits", "NMSE", "token", "rotated");
    for (size_t i = 0; i < count; i++) {
        const result_t *result = &results[i];
        printf("%-36s %-7s %7u ", contenders[i].spec, contenders[i].kernel, contenders[i].threads);
        if (result->fault[0]) {
            printf("left out: %s\n", result->fault);
            continue;
        }
        printf("%8.2f %6.3f %8.2f %6.3f %7.3f %8.2f %8.2f %7.1f%%\n",
               gigabytes(tensor, result->encode), copy / result->encode,
               gigabytes(tensor, result->decode), copy / result->decode,
               bits_a_value(tensor, result), result->absolute, result->token,
               100 * result->rotated);
    }
    putchar('\n');
}
