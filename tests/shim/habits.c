/*
 * What programs that send activations by MPI were seen to do: everything on tag 0, integers and
 * floats, large and small; buffered sends of everything; probe loops over any source and tag;
 * polling; bfloat16 as bytes; created communicators with ranks of their own; many receives posted
 * into one buffer, as benchmarks do.
 */
#include "tests/lib/mt_p2p.h"

#include <stdio.h>

enum { TOKENS = 1024, VALUES = 8192, MICROBATCHES = 4 };

typedef int send_call(const void *, int, MPI_Datatype, int, int, MPI_Comm);

/* Token ids, then activations, of one tag; the receiver goes by the order and takes any tag. */
static void one_tag(const char *label, MPI_Comm comm, send_call *send)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    void *tokens = mt_alloc_sealed(TOKENS, MT_INT, 1),
         *values = mt_alloc_sealed(VALUES, MT_FLOAT, 2);
    void *got_tokens = mt_alloc(TOKENS * sizeof(int)), *got = mt_alloc(VALUES * sizeof(float));
    for (int i = 0; i < MICROBATCHES; i++) {
        MPI_Status status[2];
        MPI_Request request[2];
        mt_status_clear(&status[0]);
        mt_status_clear(&status[1]);
        mt_wipe(got);
        MPI_Irecv(got_tokens, TOKENS, MPI_INT, previous, MPI_ANY_TAG, comm, &request[0]);
        MPI_Irecv(got, VALUES, MPI_FLOAT, previous, MPI_ANY_TAG, comm, &request[1]);
        send(tokens, TOKENS, MPI_INT, next, 0, comm);
        send(values, VALUES, MPI_FLOAT, next, 0, comm);
        MPI_Waitall(2, request, status);
        mt_status(label, &status[0], MPI_INT);
        mt_status(label, &status[1], MPI_FLOAT);
        mt_check(label, got_tokens, TOKENS, MT_INT, 1);
        mt_check(label, got, VALUES, MT_FLOAT, 2);
    }
    mt_free(tokens);
    mt_free(values);
    mt_free(got_tokens);
    mt_free(got);
}

/* Rank 0 serves whoever comes: it asks for anything, then receives exactly that. */
static void serve(bool poll)
{
    const char *label = poll ? "polled" : "probed";
    int count = VALUES + 100 * mt_rank;
    if (mt_rank != 0) {
        void *values = mt_alloc_sealed((size_t)count, MT_FLOAT, (unsigned)mt_rank);
        for (int i = 0; i < MICROBATCHES; i++)
            MPI_Send(values, count, MPI_FLOAT, 0, i, MPI_COMM_WORLD);
        mt_free(values);
        return;
    }
    int seen[16] = {
        0}; /* messages of each rank so far: their order is fixed, that of ranks is not */
    int right = 0;
    for (int left = MICROBATCHES * (mt_size - 1); left > 0; left--) {
        MPI_Status status, received;
        int flag = 0, length;
        while (poll && !flag)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
        if (!poll)
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_FLOAT, &length);
        float *got = mt_alloc((size_t)length * sizeof *got);
        MPI_Recv(got, length, MPI_FLOAT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                 &received);
        int source = status.MPI_SOURCE, got_length;
        MPI_Get_count(&received, MPI_FLOAT, &got_length);
        right += status.MPI_TAG == seen[source]++ && length == VALUES + 100 * source &&
                 got_length == length && received.MPI_SOURCE == source;
        mt_check(label, got, (size_t)length, MT_FLOAT, (unsigned)source);
        mt_free(got);
    }
    mt_say("%s: %d messages as announced and in order", label, right);
}

/*
 * All receives of a window into one buffer, of equal messages, completed only when all are there.
 */
static void one_buffer(void)
{
    enum { WINDOW = 8 };
    MPI_Request receives[WINDOW], sends[WINDOW];
    MPI_Status statuses[WINDOW];
    void *sent = mt_alloc_sealed(VALUES, MT_FLOAT, 7), *got = mt_alloc(VALUES * sizeof(float));
    for (int i = 0; i < WINDOW; i++) {
        mt_status_clear(&statuses[i]);
        MPI_Irecv(got, VALUES, MPI_FLOAT, mt_left, 0, MPI_COMM_WORLD, &receives[i]);
    }
    for (int i = 0; i < WINDOW; i++)
        MPI_Isend(sent, VALUES, MPI_FLOAT, mt_right, 0, MPI_COMM_WORLD, &sends[i]);
    for (int i = 0; i < WINDOW; i++) {
        MPI_Wait(&receives[(i * 3) % WINDOW], &statuses[i]);
        mt_status("one buffer", &statuses[i], MPI_FLOAT);
    }
    mt_check("one buffer", got, VALUES, MT_FLOAT, 7);
    MPI_Waitall(WINDOW, sends, MPI_STATUSES_IGNORE);
    mt_free(sent);
    mt_free(got);
}

/* Halves of values sent as bytes and as 16-bit integers: no type says that they may be changed. */
static void as_bytes(MPI_Datatype type, int width)
{
    int count = VALUES / width;
    void *sent = mt_alloc_sealed(VALUES, MT_BYTES, 3), *got = mt_alloc(VALUES);
    MPI_Status status;
    mt_status_clear(&status);
    MPI_Sendrecv(sent, count, type, mt_right, 0, got, count, type, mt_left, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
    mt_status("bytes", &status, type);
    mt_check("bytes", got, VALUES, MT_BYTES, 3);
    mt_free(sent);
    mt_free(got);
}

/* Reversed ranks: rank 1 is somebody else. Last, so that the world stays the usual one before. */
static void other_ranks(void)
{
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -mt_rank, &reversed);
    one_tag("split", reversed, MPI_Send);
    MPI_Comm_free(&reversed);
}

static void body(void)
{
    one_tag("one tag", MPI_COMM_WORLD, MPI_Send);
    mt_buffer_attach(MICROBATCHES * (TOKENS + VALUES) * sizeof(float));
    one_tag("buffered", MPI_COMM_WORLD, MPI_Bsend);
    mt_buffer_detach();
    serve(false);
    MPI_Barrier(MPI_COMM_WORLD);
    serve(true);
    MPI_Barrier(MPI_COMM_WORLD);
    one_buffer();
    as_bytes(MPI_BYTE, 1);
    as_bytes(MPI_UINT16_T, 2);
    other_ranks();
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "habits", body);
}
