/* Which libraries a program would get from the dynamic loader, without running it. */
#ifndef LOADER_H
#define LOADER_H

#include "tools/elf_file.h"

enum { LOADER_LIBRARIES = 512 };

/* One library that a program needs, by itself or through another one. */
typedef struct loader_library {
    char *name;    /* soname, as the one that needs it says */
    char *path;    /* NULL: not found */
    int needed_by; /* index of the library that needs it; -1: the program */
} loader_library_t;

typedef struct loader {
    loader_library_t libraries[LOADER_LIBRARIES];
    int count;
    char *cache; /* what ldconfig -p prints; NULL: it could not be run */
    const char *program_rpath;
    char *program_folder;
} loader_t;

/*
 * Finds all that the program at path, opened as elf, needs, in the loader's order of search: RPATH,
 * LD_LIBRARY_PATH, RUNPATH, the cache, the default folders. False: there are more than
 * LOADER_LIBRARIES, or no memory; loader then has the first ones only. The caller frees loader with
 * loader_free either way.
 */
bool loader_walk(loader_t *loader, const char *path, const elf_file_t *elf);

void loader_free(loader_t *loader);

#endif
