/*
 * Processes of two worlds: spawned children, and two halves that meet through a port. Large
 * messages go both ways over the intercommunicator and after a merge; a child may run with the
 * parent's environment, or without what is preloaded into the parent. Where the MPI cannot do it
 * (MPICH's ucx device), the error is all there is to compare.
 *
 *   dynamic spawn | spawn-bare | connect
 */
#include "tests/lib/mt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 5000, TAG = 4 };

extern char **environ;

/* Rank 0 here and rank 0 there send each other floats, in several ways. */
static void exchange(const char *name, MPI_Comm comm, int peer)
{
    static const int counts[] = {COUNT, 28, 1, 40000};
    for (int i = 0; i < 4; i++) {
        char label[64];
        snprintf(label, sizeof label, "%s %d", name, counts[i]);
        float *sent = mt_alloc_sealed((size_t)counts[i], MT_FLOAT, (unsigned)i);
        float *received = mt_alloc(160000);
        MPI_Request request;
        MPI_Status status;
        mt_status_clear(&status);
        MPI_Isend(sent, counts[i], MPI_FLOAT, peer, TAG, comm, &request);
        if (i % 2) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
            mt_status(label, &status, MPI_FLOAT);
        }
        MPI_Recv(received, 40000, MPI_FLOAT, i < 2 ? peer : MPI_ANY_SOURCE, TAG, comm, &status);
        mt_status(label, &status, MPI_FLOAT);
        mt_check(label, received, (size_t)counts[i], MT_FLOAT, (unsigned)i);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        mt_free(sent);
        mt_free(received);
    }
}

/* Both sides of a new intercommunicator. */
static void meet(MPI_Comm inter, bool high)
{
    MPI_Comm merged;
    int rank, size, local;
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_size(inter, &local);
    if (rank == 0)
        exchange("across", inter, 0);
    MPI_Intercomm_merge(inter, high, &merged);
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    int peer = high ? 0 : local;
    if (rank == 0 || rank == (high ? size - local : 0))
        exchange("merged", merged, peer);
    MPI_Barrier(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&inter);
}

/* "env" in front of the child: hands on what is preloaded here, or takes it away. */
static char **child_arguments(char *program, bool bare)
{
    static char *arguments[64];
    int count = 0;
    if (bare) {
        arguments[count++] = "-u";
        arguments[count++] = "LD_PRELOAD";
    }
    for (char **variable = environ; *variable && count < 60; variable++) {
        bool ours = strncmp(*variable, "LD_PRELOAD=", 11) == 0 ||
                    strncmp(*variable, "TAHMPI_POLICY=", 14) == 0 ||
                    strncmp(*variable, "MT_OUT=", 7) == 0;
        if (ours && (!bare || **variable == 'M'))
            arguments[count++] = *variable;
    }
    arguments[count++] = program;
    arguments[count++] = "child";
    arguments[count] = NULL;
    return arguments;
}

static void spawn(char *program, bool bare)
{
    MPI_Comm inter;
    int codes[2];
    int code = MPI_Comm_spawn("env", child_arguments(program, bare), 2, MPI_INFO_NULL, 0,
                              MPI_COMM_WORLD, &inter, codes);
    mt_result("spawn", code);
    if (code == MPI_SUCCESS)
        meet(inter, false);
}

static void connect_halves(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm half, inter;
    bool accepts = mt_rank < mt_size / 2;
    int code = MPI_SUCCESS;
    if (mt_rank == 0)
        code = MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    mt_result("port", code);
    if (code != MPI_SUCCESS)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, accepts, mt_rank, &half);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (accepts)
        mt_result("accept", MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter));
    else
        mt_result("connect", MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter));
    meet(inter, !accepts);
    if (mt_rank == 0)
        MPI_Close_port(port);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    char *way = argc > 1 ? argv[1] : "";
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_parent(&parent);
    mt_begin(parent == MPI_COMM_NULL ? "parent" : "child");
    if (parent != MPI_COMM_NULL)
        meet(parent, true);
    else if (strcmp(way, "connect") == 0)
        connect_halves();
    else
        spawn(argv[0], strcmp(way, "spawn-bare") == 0);
    mt_end();
    MPI_Finalize();
    return 0;
}
