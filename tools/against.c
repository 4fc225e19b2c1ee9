/* tahmpi check --against: which messages of a run the rules match. */
#include "config.h"

#include "tools/against.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/run_report.h"
#include "tools/tahmpi.h"

/* What one rule has to do with the messages of a run. */
typedef struct rule_share {
    uint64_t messages, bytes;           /* of kinds that it matches, all or some of them */
    uint64_t whole_messages;            /* of kinds that it matches whole */
    uint64_t near_messages, near_bytes; /* of those it would match if they left the node */
} rule_share_t;

/* The rules that a kind's messages fall under, each once; -1 among them where none matches. */
typedef struct answers {
    int rules[POLICY_MAX_RULES + 1];
    int count;
} answers_t;

/* Which rule a message of that kind, tag and size falls under. */
static int match_one(const policy_t *policy, const run_kind_t *kind, int tag, uint64_t bytes,
                     bool remote)
{
    policy_message_t message = {
        .tag = tag,
        .comm_size = kind->comm_size,
        .direction = kind->direction,
        .carrier = kind->carrier,
        .bytes = bytes,
        .remote = remote,
        .synchronous = kind->synchronous,
    };

    return policy_match(policy, &message);
}

/* Adds the answer for messages of that tag and size. */
static void ask(const policy_t *policy, const run_kind_t *kind, int tag, uint64_t bytes,
                bool remote, answers_t *answers)
{
    int rule = match_one(policy, kind, tag, bytes, remote);

    for (int i = 0; i < answers->count; i++) {
        if (answers->rules[i] == rule)
            return;
    }
    answers->rules[answers->count++] = rule;
}

/*
 * The same for that tag and the sizes that a rule's answer can start at. A rule with a type of its
 * own matches multiples of that type's size, so both a multiple of 8 and another size are asked
 * for; sizes are taken to be multiples of what the ones that are known have in common.
 */
static void ask_from(const policy_t *policy, const run_kind_t *kind, int tag, uint64_t bytes,
                     bool remote, answers_t *answers)
{
    uint64_t known = kind->least_bytes | kind->most_bytes | kind->bytes | 8, unit = known & -known;
    uint64_t aligned = (bytes + 7) / 8 * 8, other = (bytes + unit - 1) / unit * unit;

    other += other == aligned ? unit : 0;
    if (bytes == kind->least_bytes || kind->least_bytes == kind->most_bytes) {
        ask(policy, kind, tag, kind->least_bytes, remote, answers);
        ask(policy, kind, tag, kind->most_bytes, remote, answers);
    }
    if (aligned > kind->least_bytes && aligned < kind->most_bytes)
        ask(policy, kind, tag, aligned, remote, answers);
    if (other > kind->least_bytes && other < kind->most_bytes)
        ask(policy, kind, tag, other, remote, answers);
}

/* The same for that tag and all sizes of the kind: answers change where a rule begins or ends. */
static void ask_sizes(const policy_t *policy, const run_kind_t *kind, int tag, bool remote,
                      answers_t *answers)
{
    ask_from(policy, kind, tag, kind->least_bytes, remote, answers);
    for (int rule = 0; rule < policy_rule_count(policy); rule++) {
        uint64_t least, most;
        policy_rule_bytes(policy, rule, &least, &most);
        if (least > kind->least_bytes && least < kind->most_bytes)
            ask_from(policy, kind, tag, least, remote, answers);
        if (most >= kind->least_bytes && most < kind->most_bytes)
            ask_from(policy, kind, tag, most + 1, remote, answers);
    }
}

/*
 * The rules that messages of a kind can fall under. All that is known of them is the first and the
 * last tag, the shortest and the longest message: two messages of one tag are those two.
 */
static void match_kind(const policy_t *policy, const run_kind_t *kind, bool remote,
                       answers_t *answers)
{
    int first, last;

    answers->count = 0;
    if (kind->carrier == POLICY_CARRIER_COUNT || kind->peer >= RUN_PEER_SELF) {
        answers->rules[answers->count++] = -1;
        return;
    }
    if (kind->messages <= 2 && kind->tag_first == kind->tag_last) {
        ask(policy, kind, kind->tag_first, kind->least_bytes, remote, answers);
        ask(policy, kind, kind->tag_first, kind->most_bytes, remote, answers);
        return;
    }
    ask_sizes(policy, kind, kind->tag_first, remote, answers);
    for (int rule = 0; rule < policy_rule_count(policy); rule++) {
        for (int i = 0; policy_rule_tags(policy, rule, i, &first, &last); i++) {
            if (first > kind->tag_first && first <= kind->tag_last)
                ask_sizes(policy, kind, first, remote, answers);
            if (last >= kind->tag_first && last < kind->tag_last)
                ask_sizes(policy, kind, last + 1, remote, answers);
        }
    }
}

/* Whether any rule is among them. */
static bool any_rule(const answers_t *answers)
{
    return answers->count > 1 || answers->rules[0] >= 0;
}

/* Adds a kind to the shares of the rules it falls under. True: some or all of it to none. */
static bool share_kind(const policy_t *policy, const run_kind_t *kind, rule_share_t *shares)
{
    answers_t answers;
    bool unmatched = false;

    match_kind(policy, kind, kind->peer == RUN_PEER_REMOTE, &answers);
    for (int i = 0; i < answers.count; i++) {
        if (answers.rules[i] < 0) {
            unmatched = true;
            continue;
        }
        shares[answers.rules[i]].messages += kind->messages;
        shares[answers.rules[i]].bytes += kind->bytes;
        shares[answers.rules[i]].whole_messages += answers.count == 1 ? kind->messages : 0;
    }
    if (unmatched && kind->peer == RUN_PEER_NODE) {
        match_kind(policy, kind, true, &answers);
        for (int i = 0; i < answers.count; i++) {
            if (answers.rules[i] >= 0) {
                shares[answers.rules[i]].near_messages += kind->messages;
                shares[answers.rules[i]].near_bytes += kind->bytes;
            }
        }
    }
    return unmatched;
}

/* Says what a rule matches; false: nothing. */
static bool print_share(const policy_rule_t *rule, const rule_share_t *share, uint64_t all_bytes)
{
    char size[32], label[POLICY_NAME_BYTES + 8], from[32] = "";
    bool partly = share->whole_messages < share->messages;

    snprintf(label, sizeof label, "  %s", rule->name);
    if (share->messages) {
        if (partly && share->whole_messages)
            snprintf(from, sizeof from, "%" PRIu64 " to ", share->whole_messages);
        printf("%-32s %smatches %s%s%" PRIu64 " message%s, %s, %.1f%% of all bytes\n", label,
               partly ? "partly " : "", partly && !from[0] ? "at most " : "", from,
               share->messages, share->messages == 1 ? "" : "s",
               tahmpi_size_text(share->bytes, size, sizeof size),
               all_bytes ? 100.0 * (double)share->bytes / (double)all_bytes : 0.0);
        return true;
    }
    if (share->near_messages) {
        printf("%-32s matches nothing that left its node; %" PRIu64 " message%s, %s, stayed\n"
               "%-32s within it, and the rule's scope is remote\n",
               label, share->near_messages, share->near_messages == 1 ? "" : "s",
               tahmpi_size_text(share->near_bytes, size, sizeof size), "");
        return true;
    }
    printf("%-32s matches no message of this run\n", label);
    return false;
}

/* Why no rule can ever match a kind, or why it may not have; "" where there is no more to say. */
static const char *unmatched_note(const policy_t *policy, const run_kind_t *kind)
{
    answers_t answers;

    if (kind->peer == RUN_PEER_SELF)
        return "to itself: never encoded";
    if (kind->peer == RUN_PEER_UNKNOWN)
        return "unknown peer: never encoded";
    if (kind->carrier == POLICY_CARRIER_COUNT)
        return "a type that is never encoded";
    match_kind(policy, kind, kind->peer == RUN_PEER_REMOTE, &answers);
    if (any_rule(&answers))
        return "some of them";
    if (kind->peer == RUN_PEER_NODE) {
        match_kind(policy, kind, true, &answers);
        if (any_rule(&answers))
            return "only within the node";
    }
    if (kind->synchronous)
        return "synchronous";
    return "";
}

static void print_unmatched(const policy_t *policy, const run_kind_t *kind)
{
    char tags[32], least[32], most[32], sizes[72];
    const char *note;

    if (kind->tag_first == kind->tag_last)
        snprintf(tags, sizeof tags, "%d", kind->tag_first);
    else
        snprintf(tags, sizeof tags, "%d-%d", kind->tag_first, kind->tag_last);
    tahmpi_size_text(kind->least_bytes, least, sizeof least);
    tahmpi_size_text(kind->most_bytes, most, sizeof most);
    if (kind->least_bytes == kind->most_bytes)
        snprintf(sizes, sizeof sizes, "%s", least);
    else
        snprintf(sizes, sizeof sizes, "%s-%s", least, most);
    printf("  %-13s %-11s %-4s %4d %9" PRIu64 "  ", tags, run_carrier_name(kind->carrier),
           run_direction_name(kind->direction), kind->comm_size, kind->messages);
    note = unmatched_note(policy, kind);
    if (note[0])
        printf("%-19s %s\n", sizes, note);
    else
        printf("%s\n", sizes);
}

static void print_unmatched_head(void)
{
    printf("No rule matches:\n  %-13s %-11s %-4s %4s %9s  %s\n", "tag", "type", "to", "comm",
           "messages", "size of one");
}

bool against_report(const policy_t *policy, const char *path)
{
    rule_share_t shares[POLICY_MAX_RULES] = {0};
    run_report_t *run = run_report_read("tahmpi check", path, true);
    bool good = true, head = false;
    char size[32];

    if (!run)
        return false;
    printf("\nAgainst %s: %d rank%s on %d node%s, %" PRIu64 " messages, %s\n", path, run->ranks,
           run->ranks == 1 ? "" : "s", run->nodes, run->nodes == 1 ? "" : "s", run->messages,
           tahmpi_size_text(run->bytes, size, sizeof size));
    if (run->rank >= 0)
        printf("These are the figures of rank %d alone, which ended without MPI_Finalize.\n",
               run->rank);
    for (int i = 0; i < run->kind_count; i++)
        share_kind(policy, &run->kinds[i], shares);
    for (int i = 0; i < policy_rule_count(policy); i++)
        good = print_share(policy_rule(policy, i), &shares[i], run->bytes) && good;
    for (int i = 0; i < run->kind_count; i++) {
        rule_share_t unused[POLICY_MAX_RULES] = {0};
        if (!share_kind(policy, &run->kinds[i], unused))
            continue;
        if (!head)
            print_unmatched_head();
        head = true;
        print_unmatched(policy, &run->kinds[i]);
    }
    if (!head)
        printf("Every message that was told apart falls under a rule.\n");
    if (run->others_messages)
        printf("Not told apart: %" PRIu64 " messages, %s\n", run->others_messages,
               tahmpi_size_text(run->others_bytes, size, sizeof size));
    run_report_free(run);
    return good;
}
