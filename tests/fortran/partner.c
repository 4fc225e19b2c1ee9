/* The C part of ring.F90. */
#include <mpi.h>

void partner_exchange(MPI_Fint comm, const float *out, float *in, int n, int left, int right);
void partner_wait(MPI_Fint *request, int *bytes);

void partner_exchange(MPI_Fint comm, const float *out, float *in, int n, int left, int right)
{
    MPI_Sendrecv(out, n, MPI_FLOAT, right, 8, in, n, MPI_FLOAT, left, 8, MPI_Comm_f2c(comm),
                 MPI_STATUS_IGNORE);
}

void partner_wait(MPI_Fint *request, int *bytes)
{
    MPI_Request c = MPI_Request_f2c(*request);
    MPI_Status status;
    MPI_Wait(&c, &status);
    MPI_Get_count(&status, MPI_BYTE, bytes);
    *request = MPI_Request_c2f(c);
}
