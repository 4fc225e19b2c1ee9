/* Finding the next definition of each MPI call. */
#include "config.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/calls.h"
#include "shim/log.h"

/* Until the tables are filled, each entry fills them and calls what is then there. */
#define EACH(kind, name, base, large, body, formals, ...)                                          \
    static int first_##name formals                                                                \
    {                                                                                              \
        calls_resolve();                                                                           \
        return next.name(__VA_ARGS__);                                                             \
    }
#include "shim/calls_each.h"

#define EACH(kind, name, base, large, body, formals, ...)                                          \
    static int missing_##name formals                                                              \
    {                                                                                              \
        log_error("the MPI library in this process has no " #name);                                \
        return MPI_ERR_OTHER;                                                                      \
    }
#include "shim/calls_each.h"

struct calls_next next = {
#define EACH(kind, name, base, large, body, formals, ...) .name = first_##name,
#include "shim/calls_each.h"
};

struct calls_next beneath;
struct calls_own pmpi;

#ifdef OPEN_MPI
struct mpi_header_objects mpi_header_objects;
#endif

/*
 * The MPI library itself. RTLD_NEXT does not see it where it was loaded into a local scope, as
 * the extension modules of interpreters are; its soname finds it there.
 */
static void *calls_open_mpi(void)
{
    return dlopen(TAH_MPI_SONAME, RTLD_LAZY | RTLD_NOLOAD);
}

static void *calls_find(void *mpi, const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (symbol == NULL && mpi != NULL)
        symbol = dlsym(mpi, name);
    return symbol;
}

#ifdef OPEN_MPI
/*
 * Not the next definition but the one in force: an executable may hold its own copy of an object
 * that libmpi defines, and libmpi then uses that copy too.
 */
static void *calls_find_object(void *mpi, const char *name)
{
    void *object = dlsym(RTLD_DEFAULT, name);
    return object == NULL && mpi != NULL ? dlsym(mpi, name) : object;
}
#endif

/* Handles differ in size between the MPIs, so not even passing through would be safe. */
static void calls_refuse(const char *path)
{
    fprintf(stderr,
            "tahmpi: this library is built for %s (%s), but the program uses %s: preload the "
            "library that is built for that MPI\n",
            TAH_MPI_NAME, TAH_MPI_SONAME, path);
    _exit(EXIT_FAILURE);
}

static void calls_check_kind(void *mpi)
{
    Dl_info info;
    void *symbol = calls_find(mpi, "PMPI_Init");
    if (symbol == NULL || dladdr(symbol, &info) == 0 || info.dli_fname == NULL)
        return;
    void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return;
    bool open_mpi = dlsym(library, "ompi_mpi_comm_world") != NULL;
#ifdef OPEN_MPI
    bool right = open_mpi;
#else
    bool right = !open_mpi;
#endif
    if (!right)
        calls_refuse(info.dli_fname);
    dlclose(library);
}

static void calls_fill(void)
{
    void *mpi = calls_open_mpi();
    calls_check_kind(mpi);
#define EACH(kind, name, base, large, body, formals, ...)                                          \
    do {                                                                                           \
        void *symbol = calls_find(mpi, #name);                                                     \
        next.name = symbol != NULL ? (__typeof__(next.name))symbol : missing_##name;               \
        symbol = calls_find(mpi, "P" #name);                                                       \
        beneath.name = symbol != NULL ? (__typeof__(next.name))symbol : missing_##name;            \
    } while (0);
#include "shim/calls_each.h"
#ifdef OPEN_MPI
#define X(name) mpi_header_objects.name = calls_find_object(mpi, #name);
    MPI_HEADER_OBJECTS(X)
#undef X
#endif
#define X(name) pmpi.name = (__typeof__(pmpi.name))calls_find(mpi, "PMPI_" #name);
    CALLS_OWN(X)
    CALLS_OWN_LARGE(X)
#undef X
}

void calls_resolve(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, calls_fill);
}
