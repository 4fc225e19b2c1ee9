/* Derived types on one side, on the other, on both; instances cut short; types freed at once. */
#include "tests/lib/mt_types.h"

#include <stdio.h>
#include <stddef.h>
#include <string.h>

enum { FLOATS = 3360, TAG = 7 };

static int instances(const mt_type_t *type)
{
    return FLOATS / type->floats;
}

/* Both ends of one message from the left: each side by its own type. */
static void both_sides(const char *label, MPI_Datatype from, int from_count, MPI_Datatype to,
                       int to_count, size_t floats, bool blocking)
{
    mt_layout_t sent = mt_layout_new(from, from_count), received = mt_layout_new(to, to_count);
    MPI_Request requests[2];
    MPI_Status status;
    mt_layout_fill(&sent, floats, 5);
    mt_status_clear(&status);
    if (blocking) {
        MPI_Sendrecv(sent.address, from_count, from, mt_right, TAG, received.address, to_count, to,
                     MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    } else {
        MPI_Irecv(received.address, to_count, to, mt_left, TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent.address, from_count, from, mt_right, TAG, MPI_COMM_WORLD, &requests[1]);
        MPI_Wait(&requests[0], &status);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    mt_status(label, &status, to);
    mt_layout_check(label, &received, floats, 5);
    mt_layout_free(&sent);
    mt_layout_free(&received);
}

static void pairings(void)
{
    for (int t = 0; t < mt_type_count; t++) {
        const mt_type_t *type = &mt_types[t], *other = &mt_types[(t + 5) % mt_type_count];
        MPI_Datatype made = type->make(), second = other->make();
        size_t floats = (size_t)(instances(type) * type->floats);
        int room = ((int)floats + other->floats - 1) / other->floats;
        char label[64];
        snprintf(label, sizeof label, "%s to floats", type->name);
        both_sides(label, made, instances(type), MPI_FLOAT, FLOATS, floats, t % 2);
        snprintf(label, sizeof label, "floats to %s", type->name);
        both_sides(label, MPI_FLOAT, (int)floats, made, instances(type), floats, t % 2 == 0);
        snprintf(label, sizeof label, "%s to %s", type->name, other->name);
        both_sides(label, made, instances(type), second, room, floats, t % 2);
        snprintf(label, sizeof label, "floats, fewer, to %s", type->name);
        size_t fewer = floats - (size_t)type->floats / 2 - 1;
        both_sides(label, MPI_FLOAT, (int)fewer, made, instances(type), fewer, t % 2);
        MPI_Type_free(&made);
        MPI_Type_free(&second);
    }
}

/* Probe, receive by a matched probe, and persistent requests, all with derived types. */
static void other_calls(const mt_type_t *type)
{
    MPI_Datatype made = type->make();
    int count = instances(type);
    size_t floats = (size_t)(count * type->floats);
    mt_layout_t sent = mt_layout_new(made, count), received = mt_layout_new(made, count);
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Status status;
    mt_layout_fill(&sent, floats, 6);
    MPI_Isend(sent.address, count, made, mt_right, TAG, MPI_COMM_WORLD, &requests[0]);
    mt_status_clear(&status);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
    mt_status(type->name, &status, made);
    mt_status_clear(&status);
    MPI_Mrecv(received.address, count, made, &message, &status);
    mt_status(type->name, &status, made);
    mt_layout_check(type->name, &received, floats, 6);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Send_init(sent.address, count, made, mt_right, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(received.address, count, made, mt_left, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Wait(&requests[1], &status);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    mt_layout_check(type->name, &received, floats, 6);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    mt_layout_free(&sent);
    mt_layout_free(&received);
    MPI_Type_free(&made);
}

/* Types, and the communicator, are freed as soon as the operations are posted. */
static void freed_at_once(const mt_type_t *type)
{
    MPI_Datatype from = type->make(), to = type->make(), alive = type->make();
    int count = instances(type);
    size_t floats = (size_t)(count * type->floats);
    mt_layout_t sent = mt_layout_new(alive, count), received = mt_layout_new(alive, count);
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    mt_layout_fill(&sent, floats, 8);
    MPI_Irecv(received.address, count, to, mt_left, TAG, comm, &requests[0]);
    MPI_Type_free(&to);
    MPI_Barrier(comm);
    MPI_Isend(sent.address, count, from, mt_right, TAG, comm, &requests[1]);
    MPI_Type_free(&from);
    MPI_Comm_free(&comm);
    mt_status_clear(&status);
    MPI_Wait(&requests[0], &status);
    mt_status(type->name, &status, alive);
    mt_layout_check(type->name, &received, floats, 8);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    mt_layout_free(&sent);
    mt_layout_free(&received);
    MPI_Type_free(&alive);
}

static int copies, deletions;

static int copy_attribute(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Datatype type, int key, void *value, void *extra)
{
    deletions++;
    return MPI_SUCCESS;
}

/* A type with an attribute is freed while a receive goes on: the callbacks run as ever. */
static void attributes(const mt_type_t *type)
{
    MPI_Datatype to = type->make(), alive = type->make();
    int count = instances(type), key, value = 5;
    size_t floats = (size_t)(count * type->floats);
    float *sent = mt_alloc_sealed(floats, MT_FLOAT, 3);
    mt_layout_t received = mt_layout_new(alive, count);
    MPI_Request request;
    MPI_Type_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    MPI_Type_set_attr(to, key, &value);
    MPI_Irecv(received.address, count, to, mt_left, TAG, MPI_COMM_WORLD, &request);
    MPI_Type_free(&to);
    MPI_Send(sent, (int)floats, MPI_FLOAT, mt_right, TAG, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    mt_layout_check("with an attribute", &received, floats, 3);
    mt_say("%s: attribute copied %d deleted %d", type->name, copies, deletions);
    MPI_Type_free_keyval(&key);
    mt_layout_free(&received);
    mt_free(sent);
    MPI_Type_free(&alive);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Members of several types: a record as simulations send them. */
typedef struct record {
    int32_t number;
    float values[6];
    double weight;
    char name[5];
} record_t;

static MPI_Datatype record_type(void)
{
    int lengths[4] = {1, 6, 1, 5};
    MPI_Aint places[4] = {offsetof(record_t, number), offsetof(record_t, values),
                          offsetof(record_t, weight), offsetof(record_t, name)};
    MPI_Datatype types[4] = {MPI_INT32_T, MPI_FLOAT, MPI_DOUBLE, MPI_CHAR}, members, type;
    MPI_Type_create_struct(4, lengths, places, types, &members);
    MPI_Type_create_resized(members, 0, sizeof(record_t), &type);
    MPI_Type_free(&members);
    MPI_Type_commit(&type);
    return type;
}

static void records(void)
{
    enum { COUNT = 300 };
    MPI_Datatype type = record_type();
    record_t *sent = mt_alloc(COUNT * sizeof *sent), *received = mt_alloc(COUNT * sizeof *received);
    MPI_Status status;
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        sent[i].number = i;
        mt_fill(sent[i].values, 6, MT_FLOAT, (unsigned)i);
        sent[i].weight = i / 4.0;
        snprintf(sent[i].name, sizeof sent[i].name, "%d", i);
    }
    mt_seal(sent);
    mt_status_clear(&status);
    MPI_Sendrecv(sent, COUNT, type, mt_right, TAG, received, COUNT, type, mt_left, TAG,
                 MPI_COMM_WORLD, &status);
    mt_status("records", &status, type);
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        wrong += received[i].number != i || received[i].weight != i / 4.0 ||
                 strcmp(received[i].name, name) != 0 ||
                 memcmp(received[i].values, sent[i].values, sizeof sent[i].values) != 0;
    }
    mt_say("records wrong: %d", wrong);
    mt_free(sent);
    mt_free(received);
    MPI_Type_free(&type);
}

/* Packed by the program itself. */
static void packed(void)
{
    float *values = mt_alloc_sealed(FLOATS, MT_FLOAT, 9), *received = mt_alloc(FLOATS * 4);
    int bytes, position = 0, number = 17, got = 0;
    MPI_Status status;
    MPI_Pack_size(FLOATS + 1, MPI_FLOAT, MPI_COMM_WORLD, &bytes);
    char *sent = mt_alloc((size_t)bytes), *arrived = mt_alloc((size_t)bytes);
    MPI_Pack(&number, 1, MPI_INT, sent, bytes, &position, MPI_COMM_WORLD);
    MPI_Pack(values, FLOATS, MPI_FLOAT, sent, bytes, &position, MPI_COMM_WORLD);
    mt_status_clear(&status);
    MPI_Sendrecv(sent, position, MPI_PACKED, mt_right, TAG, arrived, bytes, MPI_PACKED, mt_left,
                 TAG, MPI_COMM_WORLD, &status);
    mt_status("packed", &status, MPI_PACKED);
    position = 0;
    MPI_Unpack(arrived, bytes, &position, &got, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(arrived, bytes, &position, received, FLOATS, MPI_FLOAT, MPI_COMM_WORLD);
    mt_say("packed number %d", got);
    mt_check("packed", received, FLOATS, MT_FLOAT, 9);
    mt_free(values);
    mt_free(received);
    mt_free(sent);
    mt_free(arrived);
}

static void body(void)
{
    pairings();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int t = 0; t < mt_type_count; t++) {
        other_calls(&mt_types[t]);
        freed_at_once(&mt_types[t]);
        attributes(&mt_types[t]);
    }
    records();
    packed();
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "types", body);
}
