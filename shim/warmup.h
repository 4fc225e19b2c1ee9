/* The messages to each peer that a rule with warmup sends raw first. */
#ifndef SHIM_WARMUP_H
#define SHIM_WARMUP_H

#include <stdbool.h>

/* Makes the counters the policy's rules need. Returns 0, or -1 without memory. */
int warmup_start(void);

/* Whether this message is still one of them; counts it. Thread-safe. peer: world rank. */
bool warmup_applies(int rule, int peer);

void warmup_drop(void);

#endif
