/*
 * Bandwidth between two ranks: a message of floats goes to rank 1 and comes back, for a series of
 * sizes. An ordinary MPI program: see --help.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lm_random.h"

/* Exit codes: the run failed; the command line is wrong. */
enum { FAILED = 1, MISUSED = 2 };

/* Bytes of the largest message; rounds of a size; the largest tag that every MPI must have. */
#define MOST_BYTES ((uint64_t)4 << 30)
enum { MOST_ROUNDS = 1000000, MOST_TAG = 32767 };

struct options {
    uint64_t from, to; /* bytes of the smallest and the largest message, multiples of a float's */
    uint64_t rounds, tag;
    bool help;
};

/* One size's figures. */
struct figures {
    double median, best; /* seconds of a round: there and back */
    double error;        /* of what came back: rms of the difference over rms of the tensor */
};

static void help(FILE *out)
{
    fputs(
        "usage: mpiexec -n 2 pingpong [OPTION]...\n"
        "Sends a message of floats from rank 0 to rank 1 and back, and prints for each size the\n"
        "bandwidth each way: the bytes of a message over half the time of a round.\n\n"
        "  --from SIZE    smallest message; each next one has twice the size [4K]\n"
        "  --to SIZE      largest message [8M]\n"
        "  --rounds N     rounds of each size, after one that is not counted [10]\n"
        "  --tag N        tag of the messages, both ways [100]\n"
        "  --help         this text\n\n"
        "SIZE is in bytes, a multiple of 4, or a number with K or M (KiB, MiB), at most 4096M.\n"
        "The values are those of activations: normal, some channels much larger. \"error\" is the\n"
        "root mean square of what came back minus what was sent, as a share of the latter's.\n\n"
        "example: mpiexec -n 2 pingpong --from 8M --to 8M --rounds 5\n",
        out);
}

/* A whole number, with `unit` allowing K and M behind it. */
static bool read_number(const char *text, bool unit, uint64_t least, uint64_t most, uint64_t *to)
{
    char *end;

    errno = 0;
    uint64_t value = strtoull(text, &end, 10), scale = 1;
    if (text[0] < '0' || text[0] > '9' || errno)
        return false;
    if (unit && *end && strchr("KM", *end))
        scale = *end++ == 'K' ? 1 << 10 : 1 << 20;
    if (*end || value > most / scale || value * scale < least)
        return false;
    *to = value * scale;
    return true;
}

static bool read_option(struct options *options, int option, const char *value, char *message,
                        size_t message_size)
{
    uint64_t *size = option == 'f' ? &options->from : &options->to;

    switch (option) {
    case 'f':
    case 't':
        if (read_number(value, true, sizeof(float), MOST_BYTES, size) && *size % sizeof(float) == 0)
            return true;
        snprintf(message, message_size, "--%s %s: must be a multiple of 4 bytes, at most 4096M",
                 option == 'f' ? "from" : "to", value);
        return false;
    case 'r':
        if (read_number(value, false, 1, MOST_ROUNDS, &options->rounds))
            return true;
        snprintf(message, message_size, "--rounds %s: must be a number from 1 to %d", value,
                 MOST_ROUNDS);
        return false;
    case 'g':
        if (read_number(value, false, 0, MOST_TAG, &options->tag))
            return true;
        snprintf(message, message_size, "--tag %s: must be a number from 0 to %d", value, MOST_TAG);
        return false;
    default:
        options->help = true;
        return true;
    }
}

/* Reads argv; on a mistake returns false and `message` says which option and what is allowed. */
static bool read_options(struct options *options, int argc, char **argv, char *message,
                         size_t message_size)
{
    static const struct option list[] = {
        {"from", required_argument, NULL, 'f'},   {"to", required_argument, NULL, 't'},
        {"rounds", required_argument, NULL, 'r'}, {"tag", required_argument, NULL, 'g'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
    };
    int found;

    *options = (struct options){.from = 4 << 10, .to = 8 << 20, .rounds = 10, .tag = 100};
    opterr = 0;
    while ((found = getopt_long(argc, argv, ":", list, NULL)) != -1) {
        if (found == ':' || found == '?') {
            snprintf(message, message_size,
                     found == ':' ? "%s needs a value; see --help"
                                  : "no such option: %s; see --help",
                     argv[optind - 1]);
            return false;
        }
        if (!read_option(options, found, optarg, message, message_size))
            return false;
    }
    if (optind < argc) {
        snprintf(message, message_size, "unexpected argument: %s; see --help", argv[optind]);
        return false;
    }
    if (options->from > options->to) {
        snprintf(message, message_size, "--from %" PRIu64 ": must be at most --to, %" PRIu64,
                 options->from, options->to);
        return false;
    }
    return true;
}

/* What activations look like: normal, and one channel in 61 is 20 times as large. */
static void fill(float *tensor, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tensor[i] = (float)(lm_random_normal(1, 0, i) * (i % 61 == 7 ? 20 : 1));
}

static double relative_error(const float *tensor, const float *back, size_t count)
{
    double difference = 0, power = 0;

    for (size_t i = 0; i < count; i++) {
        double d = (double)back[i] - tensor[i];

        difference += d * d;
        power += (double)tensor[i] * tensor[i];
    }
    return sqrt(difference / power);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The rounds of one size. On rank 0 returns its figures; the first round is not among them. */
static struct figures measure(const struct options *options, int rank, const float *tensor,
                              float *back, size_t count, double *seconds)
{
    int n = (int)count, tag = (int)options->tag, rounds = (int)options->rounds;

    for (int round = 0; round <= rounds; round++) {
        if (rank == 0) {
            double start = MPI_Wtime();

            MPI_Send(tensor, n, MPI_FLOAT, 1, tag, MPI_COMM_WORLD);
            MPI_Recv(back, n, MPI_FLOAT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (round > 0)
                seconds[round - 1] = MPI_Wtime() - start;
        } else {
            MPI_Recv(back, n, MPI_FLOAT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(back, n, MPI_FLOAT, 0, tag, MPI_COMM_WORLD);
        }
    }
    if (rank != 0)
        return (struct figures){0};
    qsort(seconds, (size_t)rounds, sizeof *seconds, by_value);
    return (struct figures){
        .median = (seconds[(rounds - 1) / 2] + seconds[rounds / 2]) / 2,
        .best = seconds[0],
        .error = relative_error(tensor, back, count),
    };
}

static void print_figures(uint64_t bytes, const struct figures *figures)
{
    printf("%11" PRIu64 " %12.3f %12.3f %14.1f %10.2g\n", bytes,
           2e-6 * (double)bytes / figures->median, 2e-6 * (double)bytes / figures->best,
           5e5 * figures->median, figures->error);
    fflush(stdout);
}

static int run(const struct options *options, int rank)
{
    float *tensor = malloc(options->to), *back = malloc(options->to);
    double *seconds = malloc(options->rounds * sizeof *seconds);
    int mine = tensor != NULL && back != NULL && seconds != NULL, all = 0;

    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all) {
        fill(tensor, options->to / sizeof(float));
        if (rank == 0)
            printf("%11s %12s %12s %14s %10s\n", "bytes", "MB/s median", "MB/s best", "us each way",
                   "error");
        for (uint64_t bytes = options->from;;
             bytes = bytes * 2 < options->to ? bytes * 2 : options->to) {
            struct figures figures =
                measure(options, rank, tensor, back, bytes / sizeof(float), seconds);

            if (rank == 0)
                print_figures(bytes, &figures);
            if (bytes == options->to)
                break;
        }
    } else if (rank == 0) {
        fprintf(stderr, "pingpong: not enough memory for messages of %" PRIu64 " bytes\n",
                options->to);
    }
    free(tensor);
    free(back);
    free(seconds);
    return all ? 0 : FAILED;
}

int main(int argc, char **argv)
{
    struct options options;
    char message[512];
    int rank, ranks, result = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    /* Every rank reads the same command line and comes to the same result. */
    if (!read_options(&options, argc, argv, message, sizeof message)) {
        if (rank == 0)
            fprintf(stderr, "pingpong: %s\n", message);
        result = MISUSED;
    } else if (options.help) {
        if (rank == 0)
            help(stdout);
    } else if (ranks != 2) {
        if (rank == 0)
            fprintf(stderr, "pingpong: %d rank%s: start it on two, mpiexec -n 2\n", ranks,
                    ranks == 1 ? "" : "s");
        result = MISUSED;
    } else {
        result = run(&options, rank);
    }
    MPI_Finalize();
    return result;
}
