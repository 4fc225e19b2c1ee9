/* The report's figures: counted by every rank, summed on rank 0. */
#include "config.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shim/buffers.h"
#include "shim/calls.h"
#include "shim/file.h"
#include "shim/log.h"
#include "shim/report_figures.h"
#include "shim/shim.h"

/*
 * One message in this many is also decoded by the sender, to measure its error, as long as that
 * takes less than this part of the run.
 */
#define REPORT_SAMPLE 64
#define REPORT_SAMPLE_PART 200

static atomic_uint_least64_t report_counts[POLICY_MAX_RULES][2][FIGURE_COUNT];
static atomic_uint_least64_t report_unknown[2]; /* messages, bytes */
static pthread_mutex_t report_mutex = PTHREAD_MUTEX_INITIALIZER;
static double report_power[POLICY_MAX_RULES][2][2]; /* signal, noise; under report_mutex */
static atomic_uint_least64_t report_sample_ns; /* spent on such messages */
static uint64_t report_started;
static pid_t report_process;
static figures_t *report_total; /* rank 0's, after report_gather */

uint64_t report_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void report_start(void)
{
    report_started = report_clock();
    report_process = getpid();
}

static void report_add(int rule, int direction, figure_t figure, uint64_t amount)
{
    atomic_fetch_add_explicit(&report_counts[rule][direction][figure], amount,
                              memory_order_relaxed);
}

bool report_samples(int rule, policy_direction_t direction)
{
    uint64_t messages = atomic_load_explicit(
        &report_counts[rule][direction == POLICY_UP][FIGURE_MESSAGES], memory_order_relaxed);
    return messages % REPORT_SAMPLE == 0 &&
           atomic_load_explicit(&report_sample_ns, memory_order_relaxed) * REPORT_SAMPLE_PART <=
               report_clock() - report_started;
}

void report_sent(int rule, policy_direction_t direction, uint64_t message_bytes,
                 uint64_t encode_ns, const tah_encoded_t *encoded)
{
    int up = direction == POLICY_UP;
    report_add(rule, up, FIGURE_MESSAGES, 1);
    report_add(rule, up, FIGURE_TENSOR_BYTES, message_bytes);
    report_add(rule, up, FIGURE_WIRE_BYTES, encoded->frame_bytes);
    report_add(rule, up, encoded->measured ? FIGURE_SAMPLE_NS : FIGURE_ENCODE_NS, encode_ns);
    if (!encoded->measured)
        report_add(rule, up, FIGURE_ENCODE_BYTES, message_bytes);
    report_add(rule, up, FIGURE_TILES, encoded->tiles);
    report_add(rule, up, FIGURE_TILES_ROTATED, encoded->tiles_rotated);
    report_add(rule, up, FIGURE_TILES_EXACT, encoded->tiles_exact);
    report_add(rule, up, FIGURE_RETRIES, encoded->retries);
    if (!encoded->measured)
        return;
    atomic_fetch_add_explicit(&report_sample_ns, encode_ns, memory_order_relaxed);
    shim_lock(&report_mutex);
    report_power[rule][up][0] += encoded->signal;
    report_power[rule][up][1] += encoded->noise;
    shim_unlock(&report_mutex);
}

void report_sent_raw(int rule, policy_direction_t direction, uint64_t message_bytes,
                     report_raw_t reason)
{
    int up = direction == POLICY_UP;
    report_add(rule, up, FIGURE_RAW_BYTES, message_bytes);
    report_add(rule, up, (figure_t)(FIGURE_RAW + reason), 1);
}

void report_received(unsigned rule, uint64_t message_bytes, uint64_t decode_ns)
{
    if (rule >= POLICY_MAX_RULES)
        return;
    report_add((int)rule, 0, FIGURE_RECEIVED, 1);
    report_add((int)rule, 0, FIGURE_RECEIVED_BYTES, message_bytes);
    report_add((int)rule, 0, FIGURE_DECODE_NS, decode_ns);
}

void report_sent_unknown_peer(uint64_t message_bytes)
{
    atomic_fetch_add_explicit(&report_unknown[0], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&report_unknown[1], message_bytes, memory_order_relaxed);
}

/* This rank's figures. */
static figures_t *report_own(void)
{
    figures_t *own = calloc(1, sizeof *own);
    if (own == NULL)
        return NULL;
    own->ranks = 1;
    own->seconds = (double)(report_clock() - report_started) / 1e9;
    own->memory_peak = buffers_peak();
    for (int rule = 0; rule < POLICY_MAX_RULES; rule++)
        for (int up = 0; up < 2; up++)
            for (int figure = 0; figure < FIGURE_COUNT; figure++)
                own->counts[rule][up][figure] = atomic_load(&report_counts[rule][up][figure]);
    own->unknown_messages = atomic_load(&report_unknown[0]);
    own->unknown_bytes = atomic_load(&report_unknown[1]);
    memcpy(own->power, report_power, sizeof own->power);
    own->traffic = traffic_wanted() ? traffic_counts() : NULL;
    return own;
}

static int report_nodes(void)
{
    int nodes = 0;
    for (int rank = 0; rank < shim.size; rank++)
        nodes += shim.node_of[rank] == rank;
    return nodes;
}

void report_gather(void)
{
    figures_t *own = report_own(), *total = calloc(1, sizeof *total);
    if (own == NULL || total == NULL)
        log_error("out of memory for the report");
    int enough = own != NULL && total != NULL, all;
    pmpi.Allreduce(&enough, &all, 1, MPI_INT, MPI_MIN, shim.comm);
    if (all) {
        int rules = policy_rule_count(shim.policy);
        pmpi.Reduce(own->counts, total->counts, rules * 2 * FIGURE_COUNT, MPI_UINT64_T, MPI_SUM, 0,
                    shim.comm);
        pmpi.Reduce(own->power, total->power, rules * 2 * 2, MPI_DOUBLE, MPI_SUM, 0, shim.comm);
        pmpi.Reduce(&own->unknown_messages, &total->unknown_messages, 2, MPI_UINT64_T, MPI_SUM, 0,
                    shim.comm);
        pmpi.Reduce(&own->memory_peak, &total->memory_peak, 1, MPI_UINT64_T, MPI_MAX, 0, shim.comm);
        pmpi.Reduce(&own->seconds, &total->seconds, 1, MPI_DOUBLE, MPI_MAX, 0, shim.comm);
        total->ranks = shim.size;
        total->nodes = report_nodes();
        total->traffic = own->traffic;
        if (traffic_wanted())
            traffic_gather();
    }
    free(own);
    if (all && shim.rank == 0)
        report_total = total;
    else
        free(total);
}

void report_write(void)
{
    if (report_total == NULL)
        return;
    if (shim.settings.report_table)
        report_print_table(report_total);
    if (shim.settings.report[0] != '\0')
        report_write_json(report_total, shim.settings.report);
    free(report_total);
    report_total = NULL;
}

void report_write_own(void)
{
    char path[SETTINGS_PATH_BYTES + 32];
    bool wanted = shim.settings.report_table || shim.settings.report[0] != '\0';
    if (!wanted || getpid() != report_process)
        return;
    figures_t *own = report_own();
    if (own == NULL)
        return;
    own->nodes = 1;
    own->partial = true;
    if (shim.settings.report_table)
        report_print_table(own);
    if (shim.settings.report[0] != '\0') {
        file_rank_path(shim.settings.report, shim.rank, path, sizeof path);
        report_write_json(own, path);
    }
    free(own);
}
