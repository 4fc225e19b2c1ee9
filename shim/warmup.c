#include "config.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "shim/shim.h"
#include "shim/warmup.h"

/* Messages so far, [rule][peer]; NULL for rules without warmup. */
static atomic_uint_least64_t *warmup_sent[POLICY_MAX_RULES];

int warmup_start(void)
{
    for (int rule = 0; rule < policy_rule_count(shim.policy); rule++) {
        if (policy_rule(shim.policy, rule)->warmup == 0)
            continue;
        warmup_sent[rule] = calloc((size_t)shim.size, sizeof *warmup_sent[rule]);
        if (warmup_sent[rule] == NULL)
            return -1;
    }
    return 0;
}

bool warmup_applies(int rule, int peer)
{
    if (warmup_sent[rule] == NULL)
        return false;
    uint64_t most = policy_rule(shim.policy, rule)->warmup;
    atomic_uint_least64_t *sent = &warmup_sent[rule][peer];
    return atomic_load(sent) < most && atomic_fetch_add(sent, 1) < most;
}

void warmup_drop(void)
{
    for (int rule = 0; rule < POLICY_MAX_RULES; rule++) {
        free(warmup_sent[rule]);
        warmup_sent[rule] = NULL;
    }
}
