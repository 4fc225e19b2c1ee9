/*
 * What tahmpi bw knows of its policy: which messages a rule encodes, how short they get, why not.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bw.h"
#include "tools/tahmpi.h"

int bw_match(const bw_t *bw, int up, int tag, uint64_t bytes, bool remote)
{
    policy_message_t message = {
        .tag = tag,
        .comm_size = 2,
        .direction = up ? POLICY_UP : POLICY_DOWN,
        .carrier = POLICY_CARRIER_FLOAT32,
        .bytes = bytes,
        .remote = remote,
    };

    return policy_match(bw->parsed, &message);
}

static bool encodes(const bw_t *bw, int rule)
{
    return rule >= 0 && policy_rule(bw->parsed, rule)->params.codec != TAH_CODEC_NONE;
}

/*
 * How many sizes are encoded with that tag, on the network that is measured first of all. Two ranks
 * without slownet are likely to be on one node.
 */
static int tag_score(const bw_t *bw, int up, int tag)
{
    int score = 0;

    for (uint64_t bytes = bw->from; bytes <= bw->to; bytes *= 2) {
        score += encodes(bw, bw_match(bw, up, tag, bytes, true));
        if (encodes(bw, bw_match(bw, up, tag, bytes, bw->link != NULL)))
            score += BW_SIZES_MOST;
    }
    return score;
}

/* Other rules match only where one of them begins or ends, so only those tags are looked at. */
void bw_choose_tags(bw_t *bw)
{
    for (int up = 0; up < 2; up++) {
        bw_direction_t *direction = &bw->directions[up];
        int best = tag_score(bw, up, 0), first, last;
        direction->tag = 0;
        for (int rule = 0; rule < policy_rule_count(bw->parsed); rule++) {
            for (int i = 0; policy_rule_tags(bw->parsed, rule, i, &first, &last); i++) {
                const int tags[2] = {first, last < BW_TAG_PLAIN ? last + 1 : first};
                for (int j = 0; j < 2; j++) {
                    int score = tag_score(bw, up, tags[j]);
                    if (score > best || (score == best && tags[j] < direction->tag)) {
                        best = score;
                        direction->tag = tags[j];
                    }
                }
            }
        }
    }
}

/* The text of the rules to be measured; the caller frees it. NULL with a complaint. */
static char *read_rules(const bw_t *bw, policy_t **parsed)
{
    policy_errors_t errors;
    size_t bytes;
    char *rules = NULL;

    *parsed = NULL;
    if (bw->policy) {
        *parsed = tahmpi_load_policy(bw->policy); /* complains by the lines of the user's file */
        rules = *parsed ? policy_read(bw->policy, &bytes, &errors) : NULL;
        if (*parsed && !rules)
            fputs(errors.text, stderr);
        return rules;
    }
    if (asprintf(&rules,
                 "[tahmpi]\nscope = %s\n"
                 "[rule forward]\ndirection = up\ntag = 100\nmin-bytes = 1 KiB\n"
                 "codec = tah\nbits = 4/3\nhigh-fraction = 0.8\ntile = 64\n"
                 "[rule backward]\ndirection = down\ntag = 200\nmin-bytes = 1 KiB\n"
                 "codec = uniform\nbits = 6\ntile = 32\n",
                 bw->scope ? bw->scope : "remote") >= 0)
        return rules;
    fprintf(stderr, "tahmpi bw: out of memory\n");
    return NULL;
}

/* A name for the rule of plain messages that no rule of the user's has. */
static void name_plain_rule(const policy_t *user, char name[POLICY_NAME_BYTES])
{
    int count = user ? policy_rule_count(user) : 0, number = 0;

    snprintf(name, POLICY_NAME_BYTES, "plain-of-tahmpi-bw");
    for (int i = 0; i < count; i++) {
        if (strcmp(policy_rule(user, i)->name, name) == 0) {
            snprintf(name, POLICY_NAME_BYTES, "plain-of-tahmpi-bw-%d", ++number);
            i = -1;
        }
    }
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    bool written = file && fputs(text, file) >= 0;

    written = file && fclose(file) == 0 && written;
    if (!written)
        fprintf(stderr, "tahmpi bw: %s: %s\n", path, strerror(errno));
    return written;
}

const char *bw_write_policy(bw_t *bw)
{
    static char path[JOB_PATH_BYTES];
    char name[POLICY_NAME_BYTES], *text = NULL;
    policy_errors_t errors;
    policy_t *user;
    char *rules = read_rules(bw, &user);
    bool written;

    if (!rules) {
        policy_free(user);
        return NULL;
    }
    if (user && policy_rule_count(user) == POLICY_MAX_RULES) {
        fprintf(stderr,
                "tahmpi bw: %s: it has %d rules, as many as a policy can have, and bw adds one of "
                "its own for the plain messages: leave out one that is not to be measured\n",
                bw->policy, POLICY_MAX_RULES);
    } else {
        /* not the scope of [tahmpi]: a plain message must stay so wherever the ranks are */
        name_plain_rule(user, name);
        if (asprintf(&text, "[rule %s]\ntag = %d\nscope = all\ncodec = none\n%s",
                     name, BW_TAG_PLAIN, rules) < 0) {
            text = NULL;
            fprintf(stderr, "tahmpi bw: out of memory\n");
        }
    }
    policy_free(user);
    free(rules);
    if (!text)
        return NULL;
    bw->parsed = policy_parse(text, strlen(text), bw->policy ? bw->policy : "policy", &errors);
    if (!bw->parsed)
        fputs(errors.text, stderr);
    snprintf(path, sizeof path, "%s/policy.ini", bw->setup.folder);
    written = bw->parsed && write_text(path, text);
    free(text);
    return written ? path : NULL;
}

static const char *raw_reason(tah_status_t status)
{
    switch (status) {
    case TAH_ERR_PARAM:
        return "their length is no multiple of the rule's channels (shape)";
    case TAH_ERR_SPACE:
        return "a frame would be longer (no-gain)";
    case TAH_ERR_SQNR:
        return "min-sqnr is not reached";
    default:
        return tah_status_string(status);
    }
}

/* Fills in what a frame of that size takes, or why there is none. */
static void fill_row(const bw_t *bw, int up, bw_row_t *row, const float *values)
{
    int tag = bw->directions[up].tag;
    tah_message_t message = {.key = {1}};
    tah_encoded_t encoded = {0};
    tah_params_t params;
    tah_status_t status;
    size_t count;
    void *frame;

    row->rule = bw_match(bw, up, tag, row->bytes, bw->remote);
    row->wire_bytes = row->bytes;
    if (!encodes(bw, row->rule)) {
        bool far = row->rule < 0 && encodes(bw, bw_match(bw, up, tag, row->bytes, true));
        row->raw = far             ? "both ranks are on one node, and the rule's scope is remote"
                   : row->rule < 0 ? "no rule matches"
                                   : "the rule's codec is none";
        return;
    }
    params = policy_rule(bw->parsed, row->rule)->params;
    params.dtype = policy_rule_dtype(bw->parsed, row->rule, POLICY_CARRIER_FLOAT32);
    count = row->bytes / tah_dtype_bytes(params.dtype);
    frame = malloc(row->bytes);
    status = frame ? tah_params_fit(&params, count) : TAH_ERR_MEMORY;
    if (status == TAH_OK)
        status = tah_encode(&params, &message, values, count, frame, row->bytes, &encoded);
    if (status == TAH_OK)
        row->wire_bytes = encoded.frame_bytes;
    else
        row->raw = raw_reason(status);
    free(frame);
}

bool bw_fill_rows(bw_t *bw)
{
    float *values = malloc(bw->to);

    if (!values) {
        fprintf(stderr, "tahmpi bw: out of memory\n");
        return false;
    }
    bw_fill(values, bw->to / sizeof *values);
    for (int up = 0; up < 2; up++) {
        bw_direction_t *direction = &bw->directions[up];
        for (int i = 0; i < direction->row_count; i++)
            fill_row(bw, up, &direction->rows[i], values);
    }
    free(values);
    return true;
}
