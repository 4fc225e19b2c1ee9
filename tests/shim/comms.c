/*
 * Communicators of every origin: made, used, freed and made again; messages of one must not meet
 * receives and probes of another.
 */
#include "tests/lib/mt_p2p.h"

#include <stdio.h>

enum { TAG = 12, COUNT = 3000 };

/* A few messages between neighbours of a communicator, in every direction and of every weight. */
static void use(const char *name, MPI_Comm comm)
{
    int rank, size;
    char label[64];
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    mt_say("%s: rank %d of %d", name, rank, size);
    for (int i = 0; i < 4 && size > 1; i++) {
        mt_exchange_t x = {.send = mt_send_mode(i % 2 ? "Isend" : "Send"),
                           .receive = mt_receive_mode(i % 3 ? "Mrecv" : "Irecv"),
                           .source = i % size,
                           .destination = (i + (i < 2 ? 1 : size - 1)) % size,
                           .tag = i,
                           .comm = comm,
                           .kind = i == 2 ? MT_NOISE : MT_FLOAT,
                           .count = i == 2 ? 1136 : COUNT,
                           .wild = i % 2};
        mt_exchange(name, &x);
    }
    float *sent = mt_alloc_sealed(COUNT, MT_FLOAT, 2), *received = mt_alloc(COUNT * sizeof(float));
    MPI_Status status;
    mt_status_clear(&status);
    snprintf(label, sizeof label, "%s ring", name);
    MPI_Sendrecv(sent, COUNT, MPI_FLOAT, (rank + 1) % size, TAG, received, COUNT, MPI_FLOAT,
                 (rank + size - 1) % size, TAG, comm, &status);
    mt_status(label, &status, MPI_FLOAT);
    mt_check(label, received, COUNT, MT_FLOAT, 2);
    mt_free(sent);
    mt_free(received);
}

static void use_and_free(const char *name, MPI_Comm comm)
{
    use(name, comm);
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
}

static void duplicates(void)
{
    MPI_Comm comm, second;
    MPI_Request request;
    MPI_Info info;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use("dup", comm);
    MPI_Comm_idup(comm, &second, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    use_and_free("idup", second);
    MPI_Info_create(&info);
    MPI_Info_set(info, "nothing", "special");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    use_and_free("dup with info", comm);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    use_and_free("dup of self", comm);
}

static void subsets(void)
{
    MPI_Comm comm;
    MPI_Group world, group;
    MPI_Comm_split(MPI_COMM_WORLD, mt_rank % 2, mt_rank, &comm);
    use_and_free("split in halves", comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -mt_rank, &comm);
    use_and_free("split backwards", comm);
    MPI_Comm_split(MPI_COMM_WORLD, mt_rank == 0 ? MPI_UNDEFINED : 1, 0, &comm);
    use_and_free("split without rank 0", comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, mt_rank, MPI_INFO_NULL, &comm);
    use_and_free("split by node", comm);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int order[2] = {mt_size - 1, 0};
    MPI_Group_incl(world, 2, order, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    use_and_free("create", comm);
    if (mt_rank == 0 || mt_rank == mt_size - 1) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &comm);
        use_and_free("create_group", comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void topologies(void)
{
    MPI_Comm comm, line;
    int dims[2] = {0, 0}, periods[2] = {1, 1}, keep[2] = {1, 0}, up, down;
    MPI_Dims_create(mt_size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &comm);
    use("cart", comm);
    MPI_Cart_shift(comm, 0, 1, &up, &down);
    mt_say("cart neighbours %d %d", up, down);
    MPI_Cart_sub(comm, keep, &line);
    use_and_free("cart sub", line);
    MPI_Comm_free(&comm);
    int index[4], edges[8];
    for (int i = 0; i < mt_size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + mt_size - 1) % mt_size;
        edges[2 * i + 1] = (i + 1) % mt_size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, mt_size, index, edges, 0, &comm);
    use_and_free("graph", comm);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &mt_left, MPI_UNWEIGHTED, 1, &mt_right,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    use("dist_graph", comm);
    float *sent = mt_alloc_sealed(COUNT, MT_FLOAT, 3), *received = mt_alloc(COUNT * sizeof(float));
    MPI_Neighbor_alltoall(sent, COUNT, MPI_FLOAT, received, COUNT, MPI_FLOAT, comm);
    mt_check("neighbourhood collective", received, COUNT, MT_FLOAT, 3);
    mt_free(sent);
    mt_free(received);
    MPI_Comm_free(&comm);
}

/* Messages across an intercommunicator; ranks are those of the other side. */
static void across(MPI_Comm inter)
{
    int rank, remote;
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &remote);
    mt_say("intercommunicator: rank %d against %d", rank, remote);
    if (rank >= remote || rank >= mt_size - remote)
        return;
    for (int i = 0; i < 3; i++) {
        float *sent = mt_alloc_sealed(COUNT, MT_FLOAT, (unsigned)i);
        float *received = mt_alloc(COUNT * sizeof(float));
        MPI_Request request;
        MPI_Message message;
        MPI_Status status;
        mt_status_clear(&status);
        MPI_Isend(sent, COUNT, MPI_FLOAT, rank, TAG, inter, &request);
        if (i == 0) {
            MPI_Recv(received, COUNT, MPI_FLOAT, rank, TAG, inter, &status);
        } else if (i == 1) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
            mt_status("across, probed", &status, MPI_FLOAT);
            MPI_Recv(received, COUNT, MPI_FLOAT, MPI_ANY_SOURCE, TAG, inter, &status);
        } else {
            MPI_Mprobe(rank, MPI_ANY_TAG, inter, &message, &status);
            MPI_Mrecv(received, COUNT, MPI_FLOAT, &message, &status);
        }
        mt_status("across", &status, MPI_FLOAT);
        mt_check("across", received, COUNT, MT_FLOAT, (unsigned)i);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        mt_free(sent);
        mt_free(received);
    }
}

static void intercommunicators(void)
{
    MPI_Comm half, inter, second, merged;
    int low = mt_rank < mt_size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, low, mt_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? mt_size / 2 : 0, 3, &inter);
    across(inter);
    MPI_Comm_dup(inter, &second);
    across(second);
    MPI_Intercomm_merge(inter, !low, &merged);
    use("merged", merged);
    MPI_Comm_free(&second);
    MPI_Comm_free(&inter);
    use_and_free("merged, alone", merged);
    MPI_Comm_free(&half);
}

/* The same source and tag on two communicators: neither sees what is the other's. */
static void apart(void)
{
    MPI_Comm comms[2];
    float *sent[2], *received = mt_alloc(COUNT * sizeof(float));
    MPI_Request requests[2];
    MPI_Status status;
    int flag;
    for (unsigned i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        sent[i] = mt_alloc_sealed(COUNT, MT_FLOAT, i);
        MPI_Isend(sent[i], COUNT, MPI_FLOAT, mt_right, TAG, comms[i], &requests[i]);
    }
    for (unsigned i = 2; i-- > 0;) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
        mt_say("the world sees %d", flag);
        mt_status_clear(&status);
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &status);
        mt_status("apart", &status, MPI_FLOAT);
        MPI_Recv(received, COUNT, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &status);
        mt_check("apart", received, COUNT, MT_FLOAT, i);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &flag, &status);
        mt_say("afterwards %d", flag);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) {
        mt_free(sent[i]);
        MPI_Comm_free(&comms[i]);
    }
    mt_free(received);
}

/*
 * Handles come back: each round a communicator is freed with a probed message taken and a receive
 * still pending, and the next one very likely gets the same handle.
 */
static void reused(void)
{
    for (unsigned round = 0; round < 12; round++) {
        float *sent = mt_alloc_sealed(COUNT, MT_FLOAT, round);
        float *received = mt_alloc(COUNT * sizeof(float)), *late = mt_alloc(COUNT * sizeof(float));
        MPI_Request requests[3];
        MPI_Status status;
        MPI_Comm comm;
        if (round % 3)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        else
            MPI_Comm_split(MPI_COMM_WORLD, 0, mt_rank, &comm);
        MPI_Isend(sent, COUNT, MPI_FLOAT, mt_right, TAG, comm, &requests[0]);
        MPI_Probe(mt_left, TAG, comm, &status);
        MPI_Recv(received, COUNT, MPI_FLOAT, mt_left, TAG, comm, MPI_STATUS_IGNORE);
        MPI_Irecv(late, COUNT, MPI_FLOAT, mt_left, TAG + 1, comm, &requests[1]);
        MPI_Isend(sent, COUNT, MPI_FLOAT, mt_right, TAG + 1, comm, &requests[2]);
        MPI_Comm_free(&comm);
        mt_say("freed: %s", comm == MPI_COMM_NULL ? "null" : "kept");
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        mt_check("reused", received, COUNT, MT_FLOAT, round);
        mt_check("reused, late", late, COUNT, MT_FLOAT, round);
        mt_free(sent);
        mt_free(received);
        mt_free(late);
    }
}

static int copies, deletions;

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    deletions++;
    return MPI_SUCCESS;
}

/* Attributes are copied and deleted when the program duplicates and frees, and at no other time. */
static void attributes(void)
{
    int key, value = 5;
    MPI_Comm comm, second;
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_attr(comm, key, &value);
    use("with an attribute", comm);
    mt_say("copies %d deletions %d", copies, deletions);
    MPI_Comm_dup(comm, &second);
    use_and_free("with a copied attribute", second);
    mt_say("copies %d deletions %d", copies, deletions);
    MPI_Comm_free(&comm);
    mt_say("copies %d deletions %d", copies, deletions);
    MPI_Comm_free_keyval(&key);
}

static void body(void)
{
    duplicates();
    subsets();
    topologies();
    intercommunicators();
    apart();
    reused();
    attributes();
    use("the world at the end", MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "comms", body);
}
