/*
 * TAHMPI_DUMP: samples of the messages that rules match, written by the sender as .npy files for
 * `tahmpi try`. Of each rule and tag, the 1st, 4th, 16th ... message; without rules, of each
 * floating-point type and tag.
 */
#ifndef SHIM_DUMP_H
#define SHIM_DUMP_H

#include "shim/watch.h"

/* Makes the folder. False: nothing is to be dumped, or (logged) the folder cannot be made. */
bool dump_start(void);

/* Writes the message if it is one of the sample; thread-safe. A file that cannot be written is
 * removed and logged, and is the last one. */
void dump_message(const watched_t *seen);

#endif
