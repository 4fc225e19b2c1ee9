#include "config.h"

#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/calls.h"
#include "shim/file.h"
#include "shim/log.h"
#include "shim/report.h"
#include "shim/report_figures.h"
#include "shim/shim.h"
#include "shim/trace.h"

#define TRACE_TAG 2 /* of messages on the library's own communicator */

typedef enum trace_kind { TRACE_ENCODE, TRACE_SEND, TRACE_RECEIVE, TRACE_DECODE } trace_kind_t;

typedef struct trace_event {
    uint64_t begin, end; /* ns since the ranks' common start; end 0: never seen */
    traced_t message;
    int kind;   /* trace_kind_t */
    int thread; /* number, in the order of their first events */
} trace_event_t;

static trace_event_t *trace_events;
static atomic_uint_least64_t trace_next; /* also counts what found no room */
static uint64_t trace_room, trace_zero;
static pid_t trace_process;
static atomic_int trace_threads;
SHIM_THREAD int trace_thread; /* number of this thread, from 1; 0: none yet */

void trace_start(void)
{
    int one = 1, all;
    if (shim.settings.trace[0] == '\0')
        return;
    trace_room = shim.settings.trace_count;
    trace_events = calloc(trace_room, sizeof *trace_events);
    if (trace_events == NULL) {
        log_error("TAHMPI_TRACE: out of memory: nothing is traced by this rank");
        trace_room = 0;
    }
    trace_process = getpid();
    pmpi.Allreduce(&one, &all, 1, MPI_INT, MPI_MIN, shim.comm);
    trace_zero = report_clock();
    shim.trace = true;
}

/* Returns the event's number, from 1; 0: there is no room for it. */
static uint64_t trace_add(trace_kind_t kind, uint64_t begin, uint64_t end, const traced_t *message)
{
    uint64_t index = atomic_fetch_add(&trace_next, 1);
    if (index >= trace_room)
        return 0;
    if (trace_thread == 0)
        trace_thread = atomic_fetch_add(&trace_threads, 1) + 1;
    trace_events[index] = (trace_event_t){
        .begin = begin - trace_zero,
        .end = end == 0 ? 0 : end - trace_zero,
        .message = *message,
        .kind = (int)kind,
        .thread = trace_thread - 1,
    };
    return index + 1;
}

uint64_t trace_encoded(uint64_t begin, const traced_t *message)
{
    uint64_t now = report_clock();
    trace_add(TRACE_ENCODE, begin, now, message);
    return trace_add(TRACE_SEND, now, 0, message);
}

void trace_arrived(uint64_t flight)
{
    trace_events[flight - 1].end = report_clock() - trace_zero;
}

void trace_decoded(uint64_t posted, uint64_t begin, const traced_t *message)
{
    uint64_t now = report_clock();
    if (posted != 0)
        trace_add(TRACE_RECEIVE, posted, begin, message);
    trace_add(TRACE_DECODE, begin, now, message);
}

/* The members that all events of a message have. */
static void trace_write_arguments(FILE *out, const trace_event_t *e, const char *peer)
{
    const traced_t *m = &e->message;
    fputs("\"args\": {\"rule\": ", out);
    if (m->rule >= 0 && m->rule < policy_rule_count(shim.policy))
        report_json_string(out, policy_rule(shim.policy, m->rule)->name);
    else
        fputs("null", out);
    if (m->peer >= 0) /* some calls do not say what they received */
        fprintf(out, ", \"%s\": %d, \"tag\": %d", peer, m->peer, m->tag);
    fprintf(out, ", \"tensor_bytes\": %" PRIu64 ", \"wire_bytes\": %" PRIu64 "}}", m->tensor_bytes,
            m->wire_bytes);
}

/* Encoding and decoding occupy their thread; messages on their way overlap, so they have ids. */
static void trace_write_event(FILE *out, const trace_event_t *e, int rank, uint64_t number)
{
    static const char *const names[] = {"encode", "send", "receive", "decode"};
    const char *peer = e->kind <= TRACE_SEND ? "to" : "from";
    double begin = (double)e->begin / 1e3, end = (double)e->end / 1e3;
    if (e->end == 0)
        return;
    if (e->kind == TRACE_ENCODE || e->kind == TRACE_DECODE) {
        fprintf(
            out,
            ",\n{\"name\": \"%s\", \"cat\": \"codec\", \"ph\": \"X\", \"pid\": %d, \"tid\": %d, "
            "\"ts\": %.3f, \"dur\": %.3f, ",
            names[e->kind], rank, e->thread, begin, end - begin);
        trace_write_arguments(out, e, peer);
        return;
    }
    for (int last = 0; last < 2; last++) {
        fprintf(out,
                ",\n{\"name\": \"%s\", \"cat\": \"wire\", \"ph\": \"%s\", \"id\": \"%d.%" PRIu64
                "\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, ",
                names[e->kind], last ? "e" : "b", rank, number, rank, e->thread,
                last ? end : begin);
        trace_write_arguments(out, e, peer);
    }
}

/* first: the rank is the file's first. */
static void trace_write_rank(FILE *out, const trace_event_t *events, uint64_t count, int rank,
                             bool first)
{
    fprintf(out,
            "%s{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %d, \"tid\": 0, \"args\": "
            "{\"name\": \"rank %d\"}}",
            first ? "" : ",\n", rank, rank);
    for (uint64_t i = 0; i < count; i++)
        trace_write_event(out, &events[i], rank, i);
}

/* How many of this rank's events there are; *dropped: how many more there would be. */
static uint64_t trace_count(uint64_t *dropped)
{
    uint64_t all = atomic_load(&trace_next);
    uint64_t count = all < trace_room ? all : trace_room;
    *dropped = all - count;
    return count;
}

static bool trace_open(file_t *file, const char *path)
{
    bool good = file_open(file, "TAHMPI_TRACE", path);
    if (good)
        fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n", file->out);
    return good;
}

static void trace_close(file_t *file, uint64_t dropped)
{
    const char *path = file->path;
    fprintf(file->out,
            "\n], \"otherData\": {\"version\": \"" PACKAGE_VERSION "\", \"dropped\": %" PRIu64
            "}}\n",
            dropped);
    file_close(file);
    if (dropped > 0)
        log_warn("TAHMPI_TRACE: %" PRIu64 " events found no room; %s:N makes room for N on each "
                 "rank",
                 dropped, path);
}

/* Receives each rank's events in its turn and writes them; out may be NULL. */
static uint64_t trace_collect(FILE *out)
{
    uint64_t dropped, all_dropped = 0;
    trace_event_t *events = malloc(shim.settings.trace_count * sizeof *events);
    uint64_t count = trace_count(&dropped);
    if (out != NULL)
        trace_write_rank(out, trace_events, count, 0, true);
    all_dropped += dropped;
    for (int rank = 1; rank < shim.size; rank++) {
        uint64_t head[2]; /* events that follow, dropped */
        int go = events != NULL;
        pmpi.Send(&go, 1, MPI_INT, rank, TRACE_TAG, shim.comm);
        if (!go)
            continue;
        pmpi.Recv(head, 2, MPI_UINT64_T, rank, TRACE_TAG, shim.comm, MPI_STATUS_IGNORE);
        pmpi.Recv(events, (int)(head[0] * sizeof *events), MPI_BYTE, rank, TRACE_TAG, shim.comm,
                  MPI_STATUS_IGNORE);
        if (out != NULL)
            trace_write_rank(out, events, head[0], rank, false);
        all_dropped += head[1];
    }
    free(events);
    return all_dropped;
}

/* Sends this rank's events to rank 0 when it asks for them. */
static void trace_send(void)
{
    uint64_t head[2];
    int go;
    head[0] = trace_count(&head[1]);
    pmpi.Recv(&go, 1, MPI_INT, 0, TRACE_TAG, shim.comm, MPI_STATUS_IGNORE);
    if (!go)
        return;
    pmpi.Send(head, 2, MPI_UINT64_T, 0, TRACE_TAG, shim.comm);
    pmpi.Send(trace_events, (int)(head[0] * sizeof *trace_events), MPI_BYTE, 0, TRACE_TAG,
              shim.comm);
}

void trace_gather(void)
{
    if (!shim.trace)
        return;
    shim.trace = false;
    if (shim.rank == 0) {
        file_t file;
        bool good = trace_open(&file, shim.settings.trace);
        uint64_t dropped = trace_collect(good ? file.out : NULL);
        if (good)
            trace_close(&file, dropped);
    } else {
        trace_send();
    }
}

void trace_write_own(void)
{
    char path[SETTINGS_PATH_BYTES + 32];
    file_t file;
    uint64_t dropped, count = trace_count(&dropped);
    if (!shim.trace || getpid() != trace_process)
        return;
    file_rank_path(shim.settings.trace, shim.rank, path, sizeof path);
    if (!trace_open(&file, path))
        return;
    trace_write_rank(file.out, trace_events, count, shim.rank, true);
    trace_close(&file, dropped);
}
