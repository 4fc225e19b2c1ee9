/* Whether a program can run under tahmpi, found out without running it. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>

/*
 * Prints what kind of program name is (looked up in PATH where it has no slash), the MPI library it
 * uses, and whether tahmpi can be loaded into it, and if not, why and what to do. False: it cannot.
 */
bool program_report(const char *name);

#endif
