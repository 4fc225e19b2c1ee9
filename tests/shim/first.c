/*
 * Two ranks, whose first call would take a message that was not sent by the program, if there was
 * one: a receive of anything, a probe for anything, a collective.
 *
 *   first receive|probe|broadcast
 *
 * Both note "data" when the other's message has come; the root of the broadcast notes nothing,
 * since it may leave that at once.
 */
#include "tests/lib/mt.h"

#include <string.h>

enum { VALUE = 4711 };

/* What arrives first, into value. */
static void first_from_anybody(bool probe, int *value)
{
    static char room[65536];
    int mine = VALUE, flag = 0;
    MPI_Request request;
    MPI_Isend(&mine, 1, MPI_INT, mt_right, 0, MPI_COMM_WORLD, &request);
    while (probe && !flag)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(room, sizeof room, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    memcpy(value, room, sizeof *value);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    mt_begin("first");
    int value = mt_rank == 0 ? VALUE : 0;
    bool broadcast = strcmp(way, "broadcast") == 0;
    if (broadcast)
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        first_from_anybody(strcmp(way, "probe") == 0, &value);
    if (!broadcast || mt_rank != 0)
        mt_say(value == VALUE ? "data" : "data of somebody else");
    MPI_Finalize();
    return 0;
}
