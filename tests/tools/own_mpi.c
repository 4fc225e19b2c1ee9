/* A program that has MPI in it, as one linked with libmpi.a has. */
int MPI_Init(int *argc, char ***argv);

__attribute__((noinline)) int MPI_Init(int *argc, char ***argv)
{
    return *argc > 5 || !argv;
}

int main(int argc, char **argv)
{
    return MPI_Init(&argc, &argv);
}
