/* What the user sets by environment variables. */
#ifndef SHIM_SETTINGS_H
#define SHIM_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETTINGS_PATH_BYTES 1024

/*
 * Rank 0's are broadcast and hold for the whole job, since launchers pass on variables as they
 * like. Plain data: sent as it is.
 */
typedef struct settings {
    bool disable;           /* TAHMPI_DISABLE */
    bool observe;           /* TAHMPI_OBSERVE: send everything as it is, and count it */
    bool report_table;      /* TAHMPI_REPORT=1: a table on rank 0's stderr */
    uint32_t timeout;       /* TAHMPI_TIMEOUT, seconds: the start-up waits no longer for a rank */
    uint32_t dump_count;    /* samples of each kind of message */
    uint32_t trace_count;   /* events that a rank keeps */
    uint32_t threads;       /* TAHMPI_THREADS, codec threads; 0: as many as there are cores */
    int32_t log_level;      /* TAHMPI_LOG */
    char isa[16];           /* TAHMPI_ISA; "": the best there is */
    char report[SETTINGS_PATH_BYTES]; /* TAHMPI_REPORT=FILE: JSON; "": none */
    char dump[SETTINGS_PATH_BYTES];   /* TAHMPI_DUMP=FOLDER[:N]; "": none */
    char trace[SETTINGS_PATH_BYTES];  /* TAHMPI_TRACE=FILE[:N]; "": none */
    char policy[SETTINGS_PATH_BYTES]; /* TAHMPI_POLICY; "": no policy */
} settings_t;

/*
 * Reads the environment. Returns 0, or -1 with the first mistake in why ("TAHMPI_X=value: ...;
 * allowed: ..."); settings then holds the defaults for what could not be read.
 */
int settings_read(settings_t *settings, char *why, size_t why_bytes);

#endif
