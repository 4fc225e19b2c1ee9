/*
 * The agreement at start: every rank of the world has the library, one wire version, one key, one
 * policy. Without it nothing is framed; a rank that cannot take part ends the job with its name.
 */
#ifndef SHIM_AGREE_H
#define SHIM_AGREE_H

#include "shim/settings.h"

/*
 * Collective over the world, from inside MPI_Init. own: this rank's settings, with what was wrong
 * with them in why ("" if nothing). Fills shim.comm, world_group, rank, size, node_of, key,
 * settings and policy. Returns 0, or -1 where a rank has TAHMPI_DISABLE set: the program then
 * runs as without the library. Does not return where the ranks cannot agree.
 */
int agree_start(const settings_t *own, const char *why);

/* Frees what agree_start made; before MPI is finalised. */
void agree_end(void);

#endif
