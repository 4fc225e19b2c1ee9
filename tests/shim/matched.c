/*
 * MPI_THREAD_MULTIPLE: threads that take messages by matched probes, small ones and large ones in
 * turn, while the messages of the other threads arrive from the same rank in between. Each thread's
 * messages have a tag of its own, so it must get them in the order in which they were sent.
 */
#include "tests/lib/mt.h"

#define THREADS 4
#define MESSAGES 40

enum { SMALL = 10, LARGE = 2000, ROOM = LARGE + MESSAGES };

/* Lengths tell the messages apart. */
static int message_count(int i)
{
    return (i % 2 ? LARGE : SMALL) + i;
}

static void matched_receive(mt_thread_t *thread, int i)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int found = 0;
    mt_status_clear(&status);
    if (i % 3 == 0)
        MPI_Mprobe(mt_left, thread->number, MPI_COMM_WORLD, &message, &status);
    while (i % 3 != 0 && !found)
        MPI_Improbe(MPI_ANY_SOURCE, thread->number, MPI_COMM_WORLD, &found, &message, &status);
    mt_status("matched", &status, MPI_FLOAT);
    MPI_Mrecv(thread->in, ROOM, MPI_FLOAT, &message, &status);
    mt_status("received", &status, MPI_FLOAT);
    mt_check("received", thread->in, (size_t)message_count(i), MT_FLOAT, (unsigned)thread->number);
}

static void work(mt_thread_t *thread)
{
    MPI_Request requests[MESSAGES];
    mt_fill(thread->out, ROOM, MT_FLOAT, (unsigned)thread->number);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Isend(thread->out, message_count(i), MPI_FLOAT, mt_right, thread->number,
                  MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < MESSAGES; i++)
        matched_receive(thread, i);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    return mt_threads_main(argc, argv, "matched", THREADS, ROOM * sizeof(float), work);
}
