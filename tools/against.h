/* A policy against what a run sent. */
#ifndef AGAINST_H
#define AGAINST_H

#include "policy/policy.h"

/*
 * Prints which of the messages in a report each rule matches, and which messages no rule does.
 * False: a rule matches nothing, or the report cannot be read, which has been said.
 */
bool against_report(const policy_t *policy, const char *path);

#endif
