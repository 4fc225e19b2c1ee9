/* Rank 0 sends rank 1 a few messages of floats: something for a rule to match. */
#include <mpi.h>

int main(int argc, char **argv)
{
    static float values[4096];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4096; i++)
        values[i] = (float)(i * 37 % 101);
    for (int i = 0; i < 4; i++) {
        if (rank == 0)
            MPI_Send(values, 4096, MPI_FLOAT, 1, 100, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(values, 4096, MPI_FLOAT, 0, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return MPI_Finalize();
}
