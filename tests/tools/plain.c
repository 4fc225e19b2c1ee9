/* A program without MPI. Also linked statically, as static_program. */
#include <stdio.h>

int main(int argc, char **argv)
{
    return argc < 1 || puts(argv[0]) < 0;
}
