/*
 * The MPI program that tahmpi bw runs on two ranks: messages of a series of sizes, in both
 * directions, plain and encoded in turn. It knows nothing of the library: plain messages have a tag
 * that the policy leaves alone. Command line: FROM TO TAG-UP TAG-DOWN SECONDS. Standard output, one
 * line for each measurement:
 *
 *   DIRECTION MODE BYTES MESSAGES PLAIN ENCODED
 *
 * DIRECTION is up (rank 0 to 1) or down; MODE is one (a message, then an empty answer) or stream
 * (many messages on their way, then an empty answer); MESSAGES were sent with the tag of that
 * direction; PLAIN and ENCODED are seconds a message, without the way of the empty answer.
 */
#include "config.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/bw_data.h"

enum { WINDOW_LEAST = 4, WINDOW_MOST = 64, ROUNDS_MOST = 100, EMPTY_ROUNDS = 50 };

#define WINDOW_MOST_BYTES (UINT64_C(256) << 20) /* unless the window is the least */
#define WINDOW_SECONDS 1.0                      /* that a stream of plain messages is to last */

typedef struct bench {
    int rank;
    int tags[2];       /* of encoded messages: down, up */
    uint64_t from, to; /* bytes */
    double seconds;    /* to spend on each measurement, if one round does not take longer */
    float *sent, *received;
    double answer; /* seconds of the way of an empty message */
} bench_t;

/* A window of messages from one rank to the other, and an empty answer; its time on the sender. */
static double round_trip(const bench_t *bench, int from, int tag, size_t count, int window)
{
    MPI_Request requests[WINDOW_MOST];
    double start = MPI_Wtime();
    int peer = 1 - bench->rank;

    for (int i = 0; i < window; i++) {
        if (bench->rank == from)
            MPI_Isend(bench->sent, (int)count, MPI_FLOAT, peer, tag, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(bench->received + (size_t)i * count, (int)count, MPI_FLOAT, peer, tag,
                      MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    if (bench->rank == from)
        MPI_Recv(NULL, 0, MPI_BYTE, peer, BW_TAG_PLAIN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(NULL, 0, MPI_BYTE, peer, BW_TAG_PLAIN, MPI_COMM_WORLD);
    return MPI_Wtime() - start;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Messages of that size that may be on their way at a time, for memory's sake. */
static int window_room(uint64_t bytes)
{
    uint64_t window = WINDOW_MOST_BYTES / bytes;

    return window < WINDOW_LEAST ? WINDOW_LEAST : window > WINDOW_MOST ? WINDOW_MOST : (int)window;
}

/* As many as last for a while at the pace of one, the same on both ranks. */
static int window_for(uint64_t bytes, double one, int from)
{
    double fit = WINDOW_SECONDS / one;
    int window = window_room(bytes);

    if (fit < window)
        window = fit < WINDOW_LEAST ? WINDOW_LEAST : (int)fit;
    MPI_Bcast(&window, 1, MPI_INT, from, MPI_COMM_WORLD);
    return window;
}

/* Seconds a message, of a round trip; an empty answer takes no longer than a message. */
static double message_time(const bench_t *bench, double round, int window)
{
    double answer = bench->answer < round / (window + 1) ? bench->answer : round / (window + 1);

    return (round - answer) / window;
}

/* Returns the time of a plain message. The first round of each kind warms up; a plain one that
 * takes long stands for itself. */
static double measure(const bench_t *bench, int up, int window, uint64_t bytes)
{
    double plain[ROUNDS_MOST], encoded[ROUNDS_MOST], medians[2];
    int from = up ? 0 : 1, tag = bench->tags[up], rounds = 1, warm = 0;
    size_t count = bytes / sizeof(float);

    plain[0] = round_trip(bench, from, BW_TAG_PLAIN, count, window);
    encoded[0] = round_trip(bench, from, tag, count, window);
    if (plain[0] < bench->seconds) {
        double fit = bench->seconds / plain[0];
        rounds = fit < 2 ? 2 : fit > ROUNDS_MOST ? ROUNDS_MOST : (int)fit;
        warm = 1;
    }
    MPI_Bcast(&rounds, 1, MPI_INT, from, MPI_COMM_WORLD);
    MPI_Bcast(&warm, 1, MPI_INT, from, MPI_COMM_WORLD);
    if (!warm)
        encoded[0] = round_trip(bench, from, tag, count, window);
    for (int i = 1 - warm; i < rounds; i++) {
        plain[i] = round_trip(bench, from, BW_TAG_PLAIN, count, window);
        encoded[i] = round_trip(bench, from, tag, count, window);
    }
    medians[0] = message_time(bench, median(plain, rounds), window);
    medians[1] = message_time(bench, median(encoded, rounds), window);
    MPI_Bcast(medians, 2, MPI_DOUBLE, from, MPI_COMM_WORLD);
    if (bench->rank == 0)
        printf("%s %s %llu %d %.9g %.9g\n", up ? "up" : "down", window > 1 ? "stream" : "one",
               (unsigned long long)bytes, window * (rounds + 1), medians[0], medians[1]);
    fflush(stdout);
    return medians[0];
}

/* Whether this MPI takes messages with both tags; says so if not. */
static bool tags_suit(const bench_t *bench)
{
    int *most, given;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &given);
    for (int up = 0; given && up < 2; up++) {
        if (bench->tags[up] <= *most)
            continue;
        if (bench->rank == 0)
            fprintf(stderr, "tahmpi bw: the policy's tag %d is above %d, the largest of this MPI\n",
                    bench->tags[up], *most);
        return false;
    }
    return true;
}

/* Half an empty round, the quickest: what an empty answer adds to the time of a message. */
static void measure_answer(bench_t *bench)
{
    double least = round_trip(bench, 0, BW_TAG_PLAIN, 0, 1);

    for (int i = 1; i < EMPTY_ROUNDS; i++) {
        double seconds = round_trip(bench, 0, BW_TAG_PLAIN, 0, 1);
        least = seconds < least ? seconds : least;
    }
    bench->answer = least / 2;
    MPI_Bcast(&bench->answer, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void run(bench_t *bench)
{
    uint64_t room = 0;
    int mine, all;

    for (uint64_t bytes = bench->from; bytes <= bench->to; bytes *= 2)
        room = window_room(bytes) * bytes > room ? window_room(bytes) * bytes : room;
    bench->sent = malloc(bench->to);
    bench->received = malloc(room);
    mine = bench->sent && bench->received;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) {
        fprintf(stderr, "tahmpi bw: not enough memory for messages of this size\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    bw_fill(bench->sent, bench->to / sizeof(float));
    measure_answer(bench);
    for (uint64_t bytes = bench->from; bytes <= bench->to; bytes *= 2) {
        for (int up = 1; up >= 0; up--) {
            double one = measure(bench, up, 1, bytes);
            measure(bench, up, window_for(bytes, one, up ? 0 : 1), bytes);
        }
    }
    free(bench->sent);
    free(bench->received);
}

int main(int argc, char **argv)
{
    bench_t bench = {0};
    int ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2 || argc != 6) {
        fprintf(stderr, "tahmpi-bw-ranks is started by tahmpi bw\n");
        MPI_Finalize();
        return 2;
    }
    bench.from = strtoull(argv[1], NULL, 10);
    bench.to = strtoull(argv[2], NULL, 10);
    bench.tags[1] = atoi(argv[3]);
    bench.tags[0] = atoi(argv[4]);
    bench.seconds = atof(argv[5]);
    if (!tags_suit(&bench)) {
        MPI_Finalize();
        return 1;
    }
    run(&bench);
    return MPI_Finalize();
}
