/* tahmpi info PROGRAM: what stands in the way of LD_PRELOAD. */
#include "config.h"

#include "tools/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tools/loader.h"
#include "tools/tahmpi.h"

enum { SCRIPTS_MOST = 8 }; /* that run one another; the kernel follows fewer */

static bool is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The path of a program as a shell finds it; NULL: there is none. The caller frees it. */
static char *look_up(const char *name)
{
    const char *list = getenv("PATH");

    if (!*name)
        return NULL;
    if (strchr(name, '/'))
        return access(name, F_OK) == 0 ? strdup(name) : NULL;
    while (list && *list) {
        size_t length = strcspn(list, ":");
        char *path;
        if (asprintf(&path, "%.*s%s%s", (int)length, list, length ? "/" : "", name) < 0)
            return NULL;
        if (access(path, X_OK) == 0 && is_file(path))
            return path;
        free(path);
        list += length + (list[length] == ':');
    }
    return NULL;
}

/*
 * The name of the program that runs a script: of its line "#!PROGRAM" or "#!/usr/bin/env PROGRAM".
 * NULL: not a script. The caller frees it.
 */
static char *interpreter_of(const char *path)
{
    char line[512] = "", *word, *rest = line;
    FILE *file = is_file(path) ? fopen(path, "re") : NULL;

    if (!file)
        return NULL;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    fclose(file);
    if (strncmp(line, "#!", 2) != 0)
        return NULL;
    rest += 2 + strspn(line + 2, " \t");
    word = strsep(&rest, " \t\n");
    if (strcmp(word, "/usr/bin/env") == 0) {
        /* options of env, and variables that it sets, come before the program */
        while (rest && (!*rest || *rest == '-' || memchr(rest, '=', strcspn(rest, " \t\n"))))
            strsep(&rest, " \t\n");
        word = strsep(&rest, " \t\n");
    }
    return strdup(word ? word : "");
}

/*
 * Follows scripts to the program that runs them, which may be a script as well: version managers
 * put one in the place of python3. *path, which is freed, becomes that program's. False, with a
 * complaint: it is not there.
 */
static bool follow_scripts(char **path)
{
    for (int level = 0; level < SCRIPTS_MOST; level++) {
        char *name = interpreter_of(*path), *runs;
        if (!name)
            return true;
        runs = look_up(name);
        if (runs)
            tahmpi_print_fieldf("", "a script that %s runs", runs);
        else
            fprintf(stderr,
                    "tahmpi info: %s: it is a script, and there is no program \"%s\" to run "
                    "it\n",
                    *path, name);
        free(name);
        if (!runs)
            return false;
        free(*path);
        *path = runs;
    }
    fprintf(stderr, "tahmpi info: %s: it is one of more than %d scripts that run one another\n",
            *path, SCRIPTS_MOST);
    return false;
}

/* Why the loader would ignore LD_PRELOAD for this user; NULL: it would not. */
static const char *secure_mode(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return NULL;
    if (status.st_mode & S_ISUID && status.st_uid != geteuid())
        return "it runs as another user (set-user-ID)";
    if (status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getegid())
        return "it runs as another group (set-group-ID)";
    if (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return "it has file capabilities";
    return NULL;
}

static bool is_mpi(const char *soname)
{
    return strncmp(soname, "libmpi.so.", 10) == 0 || strncmp(soname, "libmpich.so.", 12) == 0;
}

/* MPICH and what keeps to its binary interface have these names. */
static bool is_mpich_abi(const char *soname)
{
    return strcmp(soname, "libmpi.so.12") == 0 || strcmp(soname, "libmpich.so.12") == 0;
}

/* The MPI library among all that is needed, or NULL. Prints what else is worth to know. */
static const loader_library_t *find_mpi(const loader_t *loader)
{
    const loader_library_t *mpi = NULL;

    for (int i = 0; i < loader->count; i++) {
        const loader_library_t *library = &loader->libraries[i];
        const char *by =
            library->needed_by < 0 ? "the program" : loader->libraries[library->needed_by].name;
        if (!library->path)
            tahmpi_print_fieldf("missing", "%s, needed by %s, is not found on this machine",
                                library->name, by);
        if (!mpi && is_mpi(library->name)) {
            mpi = library;
            tahmpi_print_fieldf("MPI", "%s, needed by %s%s%s", library->name, by,
                                library->path ? ": " : "", library->path ? library->path : "");
        }
    }
    return mpi;
}

/* Says whether tahmpi suits the MPI that the program uses. */
static bool report_mpi(const elf_file_t *elf, const loader_library_t *mpi)
{
    if (!mpi && elf_defines(elf, "MPI_Init")) {
        tahmpi_print_field("preload", "no: MPI is linked into the program itself, so its calls "
                                      "never reach a preloaded library: link MPI as a shared one");
        return false;
    }
    if (!mpi) {
        tahmpi_print_field("preload", "yes, if it loads MPI later on, as Python's mpi4py does, and "
                                      "that is " TAH_MPI_SONAME ": it needs no MPI by itself");
        return true;
    }
    if (strcmp(mpi->name, TAH_MPI_SONAME) == 0) {
        tahmpi_print_field("preload", "yes");
        return true;
    }
    if (is_mpich_abi(mpi->name) && is_mpich_abi(TAH_MPI_SONAME)) {
        tahmpi_print_field("preload", "yes: its MPI has the binary interface of " TAH_MPI_SONAME
                                      " under another name");
        return true;
    }
    tahmpi_print_fieldf("preload",
                        "no: it uses %s, and this tahmpi is built for " TAH_MPI_NAME
                        " (" TAH_MPI_SONAME "): build one with ./configure --with-mpi=%s",
                        mpi->name, is_mpich_abi(mpi->name) ? "mpich" : "openmpi");
    return false;
}

/* What in the ELF file itself rules out a preloaded library of ours; NULL: nothing. */
static const char *elf_obstacle(const elf_file_t *elf)
{
    elf_file_t own;
    bool foreign;

    if (!elf->interpreter)
        return elf->dynamic ? "it is a library, or a program linked statically (static-pie), on "
                              "which LD_PRELOAD has no effect"
                            : "it is statically linked, and LD_PRELOAD has no effect on such "
                              "programs: link it dynamically";
    if (strstr(elf->interpreter, "ld-musl"))
        return "it is built for the musl C library, and tahmpi for glibc";
    if (elf_open("/proc/self/exe", &own))
        return NULL;
    foreign = own.machine != elf->machine;
    elf_close(&own);
    return foreign ? "it is for another kind of processor" : NULL;
}

static bool report_elf(const char *path, const elf_file_t *elf)
{
    const char *obstacle = elf_obstacle(elf);
    loader_t loader;
    bool good;

    if (!obstacle)
        obstacle = secure_mode(path);
    if (obstacle) {
        tahmpi_print_fieldf("preload", "no: %s", obstacle);
        return false;
    }
    if (!loader_walk(&loader, path, elf))
        tahmpi_print_fieldf("note", "only the first %d libraries were looked at", loader.count);
    good = report_mpi(elf, find_mpi(&loader));
    loader_free(&loader);
    return good;
}

bool program_report(const char *name)
{
    char *path = look_up(name);
    elf_file_t elf;
    const char *why;
    bool good = false;

    if (!path) {
        fprintf(stderr, "tahmpi info: there is no program \"%s\"\n", name);
        return false;
    }
    tahmpi_print_field("program", path);
    if (!follow_scripts(&path)) {
        free(path);
        return false;
    }
    why = elf_open(path, &elf);
    if (why) {
        fprintf(stderr, "tahmpi info: %s: %s\n", path, why);
    } else {
        good = report_elf(path, &elf);
        elf_close(&elf);
    }
    free(path);
    return good;
}
