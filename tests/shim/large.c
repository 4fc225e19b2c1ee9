/*
 * Messages of more than 2 GiB, which lengths in int cannot count: dense, from one element of a type
 * with gaps, into one, and by the calls with large counts. Each rank would need too much memory for
 * what it sends and what it receives, so rank 0 sends and rank 1 receives.
 */
#include "tests/lib/mt.h"

#include <stdlib.h>

enum { BLOCK = 1 << 20, BLOCKS = 520, GAP = 16, TAG = 9 };
static const size_t all_floats = (size_t)BLOCKS * (BLOCK + GAP);
static float *memory;

static float value(size_t block, size_t i)
{
    return (float)((i >> 4 & 1023) + block);
}

static void fill(size_t stride)
{
    for (size_t block = 0; block < BLOCKS; block++)
        for (size_t i = 0; i < BLOCK; i++)
            memory[block * stride + i] = value(block, i);
}

static void wipe(void)
{
    for (size_t i = 0; i < all_floats; i++)
        memory[i] = -1;
}

/*
 * Notes whether a value is wrong, and whether anything that is not of the message was written to.
 */
static void check(const char *label, size_t stride)
{
    bool wrong = false, written = false;
    for (size_t at = 0; at < all_floats; at++) {
        size_t block = at / stride, i = at % stride;
        if (block < BLOCKS && i < BLOCK)
            wrong |= memory[at] != value(block, i);
        else
            written |= memory[at] != -1;
    }
    mt_say("%s: %s%s", label, wrong ? "WRONG data" : "exact", written ? ", WRONG elsewhere" : "");
}

static void receive(const char *label, size_t stride, int count, MPI_Datatype type)
{
    MPI_Status status;
    int elements;
    wipe();
    mt_status_clear(&status);
    mt_result(label, MPI_Recv(memory, count, type, 0, TAG, MPI_COMM_WORLD, &status));
    MPI_Get_count(&status, type, &elements);
    mt_say("%s: source %d, tag %d, %d of %d", label, status.MPI_SOURCE, status.MPI_TAG, elements,
           count);
    check(label, stride);
}

/* Each side by a type of its own; stride: floats from one block to the next. */
static void both_sides(const char *label, size_t from_stride, int from_count, MPI_Datatype from,
                       size_t to_stride, int to_count, MPI_Datatype to)
{
    if (mt_rank == 0) {
        fill(from_stride);
        mt_result(label, MPI_Send(memory, from_count, from, 1, TAG, MPI_COMM_WORLD));
    } else {
        receive(label, to_stride, to_count, to);
    }
}

#if MPI_VERSION >= 4
/* More elements than an int counts. */
static void large_counts(void)
{
    MPI_Count bytes = (MPI_Count)BLOCKS * BLOCK * (MPI_Count)sizeof(float), counted;
    MPI_Status status;
    if (mt_rank == 0) {
        fill(BLOCK);
        mt_result("bytes", MPI_Send_c(memory, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD));
        return;
    }
    wipe();
    mt_status_clear(&status);
    mt_result("bytes", MPI_Recv_c(memory, bytes + 4, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &status));
    MPI_Get_count_c(&status, MPI_BYTE, &counted);
    mt_say("bytes: %lld of %lld", (long long)counted, (long long)bytes);
    check("bytes", BLOCK);
}
#endif

static void body(void)
{
    MPI_Datatype block, element;
    memory = malloc(all_floats * sizeof *memory);
    if (memory == NULL)
        MPI_Abort(MPI_COMM_WORLD, 99);
    MPI_Type_contiguous(BLOCK, MPI_FLOAT, &block);
    MPI_Type_commit(&block);
    MPI_Type_vector(BLOCKS, BLOCK, BLOCK + GAP, MPI_FLOAT, &element);
    MPI_Type_commit(&element);
    both_sides("dense", BLOCK, BLOCKS, block, BLOCK, BLOCKS, block);
    both_sides("gaps to dense", BLOCK + GAP, 1, element, BLOCK, BLOCKS, block);
    both_sides("dense to gaps", BLOCK, BLOCKS, block, BLOCK + GAP, 1, element);
#if MPI_VERSION >= 4
    large_counts();
#endif
    MPI_Type_free(&element);
    MPI_Type_free(&block);
    free(memory);
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "large", body);
}
