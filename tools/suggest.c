/* tahmpi suggest: a first policy from what a program was seen to send. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/run_report.h"
#include "tools/tahmpi.h"

/* Shorter messages are not worth a rule, as with a rule's own default for min-bytes. */
enum { LEAST_BYTES = 4096, RANGES = 8 };

/* Which way the messages of some tags go: by more than two thirds of their bytes, one way. */
typedef enum way { WAY_UP, WAY_DOWN, WAY_BOTH } way_t;

/* Tags that are used alike. */
typedef struct span {
    int first, last;
    uint64_t up, down; /* bytes */
} span_t;

/* What is to be said of the messages that one rule is for. */
typedef struct flow {
    uint64_t messages, bytes, synchronous;
    uint64_t least, most; /* of one message, bytes */
    uint64_t remote;      /* messages that left their node */
    unsigned carriers;    /* bit per policy_carrier_t */
} flow_t;

static bool is_float(policy_carrier_t carrier)
{
    return carrier < POLICY_CARRIER_COUNT && policy_carrier_dtype(carrier) != TAH_BYTES;
}

static bool is_useful(const run_kind_t *kind)
{
    return kind->most_bytes >= LEAST_BYTES && kind->peer <= RUN_PEER_NODE;
}

static way_t way_of(uint64_t up, uint64_t down)
{
    if (up > 2 * down)
        return WAY_UP;
    return down > 2 * up ? WAY_DOWN : WAY_BOTH;
}

static int compare_spans(const void *left, const void *right)
{
    const span_t *a = left, *b = right;

    return (a->first > b->first) - (a->first < b->first);
}

/* The tags of useful floating-point messages, in order; ranges that overlap are one. */
static int find_spans(const run_report_t *run, span_t *spans)
{
    int count = 0, kept = 0;

    for (int i = 0; i < run->kind_count; i++) {
        const run_kind_t *kind = &run->kinds[i];
        if (!is_useful(kind) || !is_float(kind->carrier) || kind->direction == POLICY_ANY_DIRECTION)
            continue;
        spans[count++] = (span_t){
            .first = kind->tag_first,
            .last = kind->tag_last,
            .up = kind->direction == POLICY_UP ? kind->bytes : 0,
            .down = kind->direction == POLICY_DOWN ? kind->bytes : 0,
        };
    }
    qsort(spans, (size_t)count, sizeof *spans, compare_spans);
    for (int i = 0; i < count; i++) {
        if (kept && spans[i].first <= spans[kept - 1].last) {
            span_t *to = &spans[kept - 1];
            to->last = spans[i].last > to->last ? spans[i].last : to->last;
            to->up += spans[i].up;
            to->down += spans[i].down;
        } else {
            spans[kept++] = spans[i];
        }
    }
    return kept;
}

/* Neighbours that go the same way become one span. */
static int join_spans(span_t *spans, int count)
{
    int kept = 0;

    for (int i = 0; i < count; i++) {
        way_t way = way_of(spans[i].up, spans[i].down);
        if (kept && way == way_of(spans[kept - 1].up, spans[kept - 1].down)) {
            spans[kept - 1].last = spans[i].last;
            spans[kept - 1].up += spans[i].up;
            spans[kept - 1].down += spans[i].down;
        } else {
            spans[kept++] = spans[i];
        }
    }
    return kept;
}

/* Whether tags alone tell forward from backward, so that a ring's way back is told right too. */
static bool tags_tell(const span_t *spans, int count)
{
    bool ways[3] = {false, false, false};

    for (int i = 0; i < count; i++)
        ways[way_of(spans[i].up, spans[i].down)] = true;
    return ways[WAY_UP] && ways[WAY_DOWN] && !ways[WAY_BOTH] && count <= 2 * RANGES;
}

static bool in_way(const run_kind_t *kind, const span_t *spans, int count, bool by_tag, way_t way)
{
    if (!is_useful(kind) || !is_float(kind->carrier))
        return false;
    if (!by_tag)
        return kind->direction == (way == WAY_UP ? POLICY_UP : POLICY_DOWN);
    for (int i = 0; i < count; i++) {
        if (kind->tag_first >= spans[i].first && kind->tag_last <= spans[i].last)
            return way_of(spans[i].up, spans[i].down) == way;
    }
    return false;
}

static void add_to_flow(flow_t *flow, const run_kind_t *kind)
{
    if (flow->messages == 0 || kind->least_bytes < flow->least)
        flow->least = kind->least_bytes;
    if (kind->most_bytes > flow->most)
        flow->most = kind->most_bytes;
    flow->messages += kind->messages;
    flow->bytes += kind->bytes;
    flow->synchronous += kind->synchronous ? kind->messages : 0;
    flow->remote += kind->peer == RUN_PEER_REMOTE ? kind->messages : 0;
    flow->carriers |= 1u << kind->carrier;
}

/* The comment above a rule: what was seen. */
static void print_seen(const flow_t *flow)
{
    char size[32], least[32], most[32], types[128] = "";

    for (int i = 0; i < POLICY_CARRIER_COUNT; i++) {
        if (flow->carriers >> i & 1) {
            strcat(types, types[0] ? " and " : "");
            strcat(types, run_carrier_name((policy_carrier_t)i));
        }
    }
    tahmpi_size_text(flow->least, least, sizeof least);
    tahmpi_size_text(flow->most, most, sizeof most);
    printf("; Seen: %" PRIu64 " message%s of %s, %s in all, each %s%s%s.\n", flow->messages,
           flow->messages == 1 ? "" : "s", types, tahmpi_size_text(flow->bytes, size, sizeof size),
           least, flow->least == flow->most ? "" : " to ", flow->least == flow->most ? "" : most);
    if (flow->remote < flow->messages)
        printf("; Of them %" PRIu64 " stayed within a node, where scope = remote leaves them as "
               "they are.\n",
               flow->messages - flow->remote);
}

static void print_matchers(const flow_t *flow, const span_t *spans, int count, bool by_tag,
                           way_t way)
{
    const char *separator = "tag = ";
    uint64_t least = LEAST_BYTES;
    char size[32];

    if (!by_tag)
        printf("direction = %s\n", way == WAY_UP ? "up" : "down");
    for (int i = 0; by_tag && i < count; i++) {
        if (way_of(spans[i].up, spans[i].down) != way)
            continue;
        printf("%s%d", separator, spans[i].first);
        if (spans[i].last > spans[i].first)
            printf("-%d", spans[i].last);
        separator = ", ";
    }
    if (by_tag)
        printf("\n");
    while (2 * least <= flow->least)
        least *= 2;
    if (least > LEAST_BYTES)
        printf("min-bytes = %s\n", tahmpi_size_text(least, size, sizeof size));
    if (flow->synchronous)
        printf("; %" PRIu64 " of the messages are sent by MPI_Ssend or MPI_Issend; they match only "
               "with\n; synchronous = yes\n",
               flow->synchronous);
}

static void print_rule(const run_report_t *run, const span_t *spans, int count, bool by_tag,
                       way_t way)
{
    flow_t flow = {0};

    for (int i = 0; i < run->kind_count; i++) {
        if (in_way(&run->kinds[i], spans, count, by_tag, way))
            add_to_flow(&flow, &run->kinds[i]);
    }
    if (!flow.messages)
        return;
    if (way == WAY_UP)
        printf(
            "\n[rule forward]\n; From lower to higher ranks: activations, if stages are ranks in "
            "order.\n");
    else
        printf(
            "\n[rule backward]\n; From higher to lower ranks: gradients of activations, if stages "
            "are ranks in order.\n");
    print_seen(&flow);
    print_matchers(&flow, spans, count, by_tag, way);
    if (way == WAY_UP)
        printf("codec = tah\nbits = 4/3\nhigh-fraction = 0.8\ntile = 64\n"
               "; channels = 2048        ; the length of a token's activation, if it is known\n");
    else
        printf("codec = uniform\nbits = 6\ntile = 32\n");
}

/* Data that no type declares: what it holds is for the user to say, so this is all comment. */
static void print_undeclared(const run_report_t *run)
{
    flow_t flows[2] = {{0}, {0}};
    static const char *const types[2] = {"bfloat16, float16, float32 or float64",
                                         "bfloat16 or float16"};

    for (int i = 0; i < run->kind_count; i++) {
        const run_kind_t *kind = &run->kinds[i];
        if (is_useful(kind) &&
            (kind->carrier == POLICY_CARRIER_BYTES || kind->carrier == POLICY_CARRIER_INT16))
            add_to_flow(&flows[kind->carrier == POLICY_CARRIER_INT16], kind);
    }
    for (int i = 0; i < 2; i++) {
        if (!flows[i].messages)
            continue;
        printf(
            "\n; Messages of undeclared content. If they hold numbers, and only then, make a rule\n"
            "; of these lines; dtype can be %s.\n",
            types[i]);
        print_seen(&flows[i]);
        printf("; [rule %s]\n; dtype = bfloat16\n; codec = tah\n; bits = 4/3\n",
               i ? "int16" : "bytes");
    }
}

/* A file's name in a comment: one with a new line in it must not end the comment. */
static void print_path(const char *path)
{
    for (const unsigned char *c = (const unsigned char *)path; *c; c++)
        putchar(*c < 0x20 || *c == 0x7f ? '?' : *c);
}

static void print_head(const run_report_t *run, const char *path, bool by_tag)
{
    char size[32];

    printf("; A first policy, made by tahmpi suggest from ");
    print_path(path);
    printf(":\n"
           "; %d rank%s on %d node%s, %" PRIu64 " messages, %s.\n"
           "; It holds the published settings. Look at what they do to this program's tensors (run "
           "it\n"
           "; with TAHMPI_DUMP=FOLDER, then tahmpi try FOLDER/*.npy), and at its results.\n",
           run->ranks, run->ranks == 1 ? "" : "s", run->nodes, run->nodes == 1 ? "" : "s",
           run->messages, tahmpi_size_text(run->bytes, size, sizeof size));
    if (run->rank >= 0)
        printf("; These are the messages of rank %d alone, which ended without MPI_Finalize.\n",
               run->rank);
    printf("; %s\n\n[tahmpi]\nscope = remote            ; all: messages within a node, too\n",
           by_tag ? "Tags tell forward from backward, so no rule names a direction."
                  : "Tags do not tell forward from backward, so the rules go by direction.");
}

/* True: there is at least one rule in what was printed. */
static bool suggest(const run_report_t *run, const char *path)
{
    span_t *spans = calloc((size_t)run->kind_count + 1, sizeof *spans);
    bool by_tag;
    int count;

    if (!spans) {
        fprintf(stderr, "tahmpi suggest: out of memory\n");
        return false;
    }
    count = join_spans(spans, find_spans(run, spans));
    by_tag = tags_tell(spans, count);
    print_head(run, path, by_tag);
    print_rule(run, spans, count, by_tag, WAY_UP);
    print_rule(run, spans, count, by_tag, WAY_DOWN);
    print_undeclared(run);
    free(spans);
    if (run->rank >= 0)
        fprintf(stderr,
                "tahmpi suggest: %s has the messages of rank %d alone, which ended without "
                "MPI_Finalize: the policy may lack what other ranks send\n",
                path, run->rank);
    if (count == 0)
        fprintf(stderr,
                "tahmpi suggest: %s has no floating-point messages of 4 KiB or more between "
                "different ranks, so the policy has no rules\n",
                path);
    return count > 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    const char **path = state->input;

    switch (key) {
    case ARGP_KEY_ARG:
        if (*path)
            argp_error(state, "only one report at a time, not \"%s\" too", argument);
        *path = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the report is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int tahmpi_suggest(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse_option,
        .args_doc = "REPORT",
        .doc = "Writes a first policy for a program to standard output, from a report of what it "
               "sends. Exit status 1 if there is nothing that a rule could be for."
               "\vExample:\n"
               "  mpiexec -n 4 env LD_PRELOAD=" TAH_LIBDIR "/libtahmpi.so \\\n"
               "      TAHMPI_OBSERVE=1 TAHMPI_REPORT=report.json ./trainer\n"
               "  tahmpi suggest report.json >first.ini\n"
               "  tahmpi check first.ini --against report.json",
    };
    const char *path = NULL;
    run_report_t *run;
    bool good;

    tahmpi_parse(&argp, argc, argv, &path);
    run = run_report_read("tahmpi suggest", path, true);
    if (!run)
        return TAHMPI_BAD;
    good = suggest(run, path);
    run_report_free(run);
    return good ? TAHMPI_GOOD : TAHMPI_BAD;
}
