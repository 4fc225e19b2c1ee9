/*
 * A program that is not linked to MPI, but loads it when it runs:
 *
 *   loader local|deep PLUGIN      a plug-in that is linked to MPI; calls its main
 *   loader handle MPI-LIBRARY     MPI itself; calls what it finds by the handle of the library
 *
 * What is preloaded takes the place of the calls of the first; the other two step round it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 6000 }; /* as in profiled.c, whose first message this rank may meet */

static void *loader_open(const char *path, int scope)
{
    void *handle = dlopen(path, RTLD_NOW | scope);
    if (handle == NULL) {
        fprintf(stderr, "loader: %s\n", dlerror());
        exit(99);
    }
    return handle;
}

static void *loader_find(void *handle, const char *name)
{
    void *symbol = dlsym(handle, name);
    if (symbol == NULL) {
        fprintf(stderr, "loader: %s\n", dlerror());
        exit(99);
    }
    return symbol;
}

#define FIND(name) __typeof__(MPI_##name) *name = loader_find(mpi, "MPI_" #name)

#ifdef OPEN_MPI
#define HANDLE(type, mpich, open_mpi) ((type)loader_find(mpi, open_mpi))
#else
#define HANDLE(type, mpich, open_mpi) (mpich)
#endif

static float loader_value(int rank, int i)
{
    return (float)((i * 7 + rank) % 16) * 0.25f;
}

/* Notes what came, in the words of mt_check. */
static int loader_note(int rank, int left, const float *received)
{
    char path[4096];
    int wrong = 0;
    snprintf(path, sizeof path, "%s/loader.%d", getenv("MT_OUT"), rank);
    FILE *notes = fopen(path, "a");
    if (notes == NULL)
        return 99;
    while (wrong < COUNT && received[wrong] == loader_value(left, wrong))
        wrong++;
    if (wrong == COUNT)
        fprintf(notes, "data by handle exact\nend\n");
    else
        fprintf(notes, "data by handle WRONG at %d\nend\n", wrong);
    return fclose(notes) == 0 ? 0 : 99;
}

static int loader_by_handle(void *mpi, int *argc, char ***argv)
{
    static float sent[COUNT], received[COUNT];
    int rank, size;
    MPI_Request request;
    FIND(Init);
    FIND(Finalize);
    FIND(Comm_rank);
    FIND(Comm_size);
    FIND(Isend);
    FIND(Recv);
    FIND(Wait);
    MPI_Comm world = HANDLE(MPI_Comm, MPI_COMM_WORLD, "ompi_mpi_comm_world");
    MPI_Datatype type = HANDLE(MPI_Datatype, MPI_FLOAT, "ompi_mpi_float");
    Init(argc, argv);
    Comm_rank(world, &rank);
    Comm_size(world, &size);
    int left = (rank + size - 1) % size;
    for (int i = 0; i < COUNT; i++)
        sent[i] = loader_value(rank, i);
    Isend(sent, COUNT, type, (rank + 1) % size, 0, world, &request);
    Recv(received, COUNT, type, left, 0, world, MPI_STATUS_IGNORE);
    Wait(&request, MPI_STATUS_IGNORE);
    int code = loader_note(rank, left, received);
    Finalize();
    return code;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 99;
    if (strcmp(argv[1], "handle") == 0)
        return loader_by_handle(loader_open(argv[2], RTLD_LOCAL), &argc, &argv);
    int scope = strcmp(argv[1], "deep") == 0 ? RTLD_LOCAL | RTLD_DEEPBIND : RTLD_LOCAL;
    void *plugin = loader_open(argv[2], scope);
    int (*run)(int, char **);
    *(void **)&run = loader_find(plugin, "main");
    return run(argc, argv);
}
