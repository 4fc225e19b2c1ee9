/*
 * Prints one line: how many ranks there are and the most that share one rank's node, as MPI sees
 * it. All ranks talk to all, so that MPI_Finalize has all connections to take down.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Comm node;
    int rank, ranks, on_node, most;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &on_node);
    MPI_Allreduce(&on_node, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("%d ranks, %d on a node\n", ranks, most);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
