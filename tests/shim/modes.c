/* Every way to send against every way to receive, sizes from nothing to 4 MiB. */
#include "tests/lib/mt_p2p.h"

/* Sizes to go round in; the odd ones have the length of a frame, 112 modulo 128. */
static const struct {
    mt_kind_t kind;
    int count;
} sizes[] = {
    {MT_FLOAT, 1000}, {MT_INT, 284},     {MT_FLOAT, 5120},   {MT_NOISE, 1136}, {MT_FLOAT, 28},
    {MT_BYTES, 9000}, {MT_FLOAT, 20476}, {MT_DOUBLE, 30000}, {MT_FLOAT, 1},    {MT_FLOAT, 40001},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int messages;

/* One message from rank source to the next one; all ranks count it, to agree on size and tag. */
static void one(const mt_mode_t *send, const mt_mode_t *receive, int source)
{
    int number = messages++;
    mt_exchange_t x = {.send = send,
                       .receive = receive,
                       .source = source,
                       .destination = (source + 1) % mt_size,
                       .tag = number % 50,
                       .comm = MPI_COMM_WORLD,
                       .kind = sizes[number % SIZES].kind,
                       .count = sizes[number % SIZES].count,
                       .spare = number % 3 * 700,
                       .wild = number % 2};
    mt_exchange("mode", &x);
}

/* Each way to send is met by three ways to receive, and the reverse, between changing ranks. */
static void cross(void)
{
    for (int s = 0; s < mt_send_count; s++)
        for (int r = 0; r < 3; r++)
            one(&mt_sends[s], &mt_receives[(s + 4 * r) % mt_receive_count], (s + r) % mt_size);
    for (int r = 0; r < mt_receive_count; r++)
        for (int s = 0; s < 3; s++)
            one(&mt_sends[(r + 5 * s) % mt_send_count], &mt_receives[r], (s + r) % mt_size);
    for (int s = 0; s < mt_send_count; s++)
        one(&mt_sends[s], mt_receive_mode("Irecv"), s % mt_size);
}

static void all_sizes(const char *send, const char *receive)
{
    static const int counts[] = {0,    1,    27,   28,    64,    255,    1000,   1024,
                                 1052, 4092, 4096, 16384, 16412, 100000, 262144, 1048576};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        mt_exchange_t x = {.send = mt_send_mode(send),
                           .receive = mt_receive_mode(receive),
                           .source = 0,
                           .destination = mt_size - 1,
                           .tag = (int)i,
                           .comm = MPI_COMM_WORLD,
                           .kind = MT_FLOAT,
                           .count = counts[i],
                           .spare = 50};
        mt_exchange("size", &x);
    }
}

static void body(void)
{
    cross();
    all_sizes("Send", "Recv");
    all_sizes("Isend", "Irecv");
    all_sizes("Send", "Probe");
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "modes", body);
}
