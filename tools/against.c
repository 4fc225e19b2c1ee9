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
    uint64_t near_messages, near_bytes; /* of those it would match if they left the node */
    bool partly;                        /* it matches some messages of a kind, and not others */
} rule_share_t;

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

/*
 * The rules that the corners of a kind (first and last tag, shortest and longest message) fall
 * under, each once, in found; -1 among them where no rule matches. Returns their number.
 */
static int match_kind(const policy_t *policy, const run_kind_t *kind, bool remote, int found[4])
{
    int count = 0;

    if (kind->carrier == POLICY_CARRIER_COUNT || kind->peer >= RUN_PEER_SELF) {
        found[0] = -1;
        return 1;
    }
    for (int corner = 0; corner < 4; corner++) {
        int rule = match_one(policy, kind, corner & 1 ? kind->tag_last : kind->tag_first,
                             corner & 2 ? kind->most_bytes : kind->least_bytes, remote);
        bool known = false;
        for (int i = 0; i < count; i++)
            known = known || found[i] == rule;
        if (!known)
            found[count++] = rule;
    }
    return count;
}

/* Adds a kind to the shares of the rules it falls under. True: some or all of it to none. */
static bool share_kind(const policy_t *policy, const run_kind_t *kind, rule_share_t *shares)
{
    int found[4], count = match_kind(policy, kind, kind->peer == RUN_PEER_REMOTE, found);
    bool unmatched = false;

    for (int i = 0; i < count; i++) {
        if (found[i] < 0) {
            unmatched = true;
            continue;
        }
        shares[found[i]].messages += kind->messages;
        shares[found[i]].bytes += kind->bytes;
        shares[found[i]].partly |= count > 1;
    }
    if (unmatched && kind->peer == RUN_PEER_NODE) {
        count = match_kind(policy, kind, true, found);
        for (int i = 0; i < count; i++) {
            if (found[i] >= 0) {
                shares[found[i]].near_messages += kind->messages;
                shares[found[i]].near_bytes += kind->bytes;
            }
        }
    }
    return unmatched;
}

/* Says what a rule matches; false: nothing. */
static bool print_share(const policy_rule_t *rule, const rule_share_t *share, uint64_t all_bytes)
{
    char size[32], label[POLICY_NAME_BYTES + 8];

    snprintf(label, sizeof label, "  %s", rule->name);
    if (share->messages) {
        printf("%-32s %smatches %" PRIu64 " message%s, %s, %.1f%% of all bytes\n", label,
               share->partly ? "partly " : "", share->messages, share->messages == 1 ? "" : "s",
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
    int found[4];

    if (kind->peer == RUN_PEER_SELF)
        return "to itself: never encoded";
    if (kind->peer == RUN_PEER_UNKNOWN)
        return "unknown peer: never encoded";
    if (kind->carrier == POLICY_CARRIER_COUNT)
        return "a type that is never encoded";
    if (kind->peer == RUN_PEER_NODE && match_kind(policy, kind, true, found) && found[0] >= 0)
        return "only within the node";
    if (match_kind(policy, kind, kind->peer == RUN_PEER_REMOTE, found) > 1)
        return "some of them";
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
