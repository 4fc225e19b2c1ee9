/*
 * Probes: what they report, what they leave alone, and the order of what is received afterwards.
 * Each rank sends to the next one and receives from the one before.
 */
#include "tests/lib/mt.h"

#include <stdio.h>
#include <stdlib.h>

/* The messages of one scene, all sent at once; odd counts of noise have a frame's length. */
typedef struct item {
    int tag;
    mt_kind_t kind;
    int count;
} item_t;

enum { ITEMS = 8, ROOM = 50000 };

static const item_t items[ITEMS] = {
    {0, MT_FLOAT, 4000}, {1, MT_NOISE, 1136}, {2, MT_FLOAT, 12000}, {3, MT_INT, 28},
    {4, MT_FLOAT, 3000}, {5, MT_FLOAT, 2500}, {6, MT_NOISE, 4096},  {7, MT_FLOAT, 11000},
};

typedef struct scene {
    MPI_Request requests[ITEMS];
    void *sent[ITEMS];
    void *received;
} scene_t;

/* Sends items first..last-1; ends when all were posted everywhere. */
static void scene_begin(scene_t *scene, int first, int last)
{
    for (int i = 0; i < ITEMS; i++) {
        scene->requests[i] = MPI_REQUEST_NULL;
        scene->sent[i] = mt_alloc_sealed((size_t)items[i].count, items[i].kind, (unsigned)i);
        if (i >= first && i < last)
            MPI_Isend(scene->sent[i], items[i].count, mt_kind_type(items[i].kind), mt_right,
                      items[i].tag, MPI_COMM_WORLD, &scene->requests[i]);
    }
    scene->received = mt_alloc(ROOM);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void scene_end(scene_t *scene)
{
    MPI_Waitall(ITEMS, scene->requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < ITEMS; i++)
        mt_free(scene->sent[i]);
    mt_free(scene->received);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int type_size(MPI_Datatype type)
{
    int size;
    MPI_Type_size(type, &size);
    return size;
}

/* Checks that the received message is the one of that tag. */
static void scene_check(scene_t *scene, const char *label, const MPI_Status *status)
{
    int i = status->MPI_TAG;
    size_t bytes = (size_t)items[i].count * mt_kind_bytes(items[i].kind);
    mt_status(label, status, mt_kind_type(items[i].kind));
    mt_check(label, scene->received, (size_t)items[i].count, items[i].kind, (unsigned)i);
    mt_untouched(label, scene->received, bytes, ROOM);
    mt_wipe(scene->received);
}

static void scene_receive(scene_t *scene, const char *label, int source, int tag, MPI_Datatype type)
{
    MPI_Status status;
    mt_status_clear(&status);
    mt_result(label, MPI_Recv(scene->received, ROOM / type_size(type), type, source, tag,
                              MPI_COMM_WORLD, &status));
    scene_check(scene, label, &status);
}

static void note_probe(const char *label, int source, int tag, MPI_Datatype type)
{
    MPI_Status status;
    mt_status_clear(&status);
    mt_result(label, MPI_Probe(source, tag, MPI_COMM_WORLD, &status));
    mt_status(label, &status, type);
}

static void note_iprobe(const char *label, int source, int tag)
{
    MPI_Status status;
    int flag;
    mt_status_clear(&status);
    mt_result(label, MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &status));
    mt_say("%s flag %d", label, flag);
    if (flag)
        mt_status(label, &status, MPI_FLOAT);
}

/* The same message probed several times and in several ways, then received. */
static void probe_repeatedly(void)
{
    scene_t scene;
    scene_begin(&scene, 0, 1);
    note_probe("probe", mt_left, 0, MPI_FLOAT);
    note_probe("probe again", MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_BYTE);
    note_probe("probe third", mt_left, MPI_ANY_TAG, MPI_DOUBLE);
    note_iprobe("iprobe", MPI_ANY_SOURCE, 0);
    note_iprobe("iprobe of another tag", MPI_ANY_SOURCE, 1);
    MPI_Probe(mt_left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    scene_receive(&scene, "probed", mt_left, 0, MPI_FLOAT);
    note_iprobe("iprobe after", MPI_ANY_SOURCE, MPI_ANY_TAG);
    scene_end(&scene);
}

/* A probe for a late tag must not let it overtake: ANY_TAG receives come in the order sent. */
static void probe_then_wildcard(int probed)
{
    scene_t scene;
    scene_begin(&scene, 0, ITEMS);
    note_probe("probe ahead", MPI_ANY_SOURCE, probed, MPI_FLOAT);
    for (int i = 0; i < ITEMS; i++) {
        if (i % 3 == 1)
            note_probe("probe next", MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_BYTE);
        scene_receive(&scene, "in order", i % 2 ? mt_left : MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_BYTE);
    }
    note_iprobe("iprobe at the end", mt_left, MPI_ANY_TAG);
    scene_end(&scene);
}

/* Probes of one tag, receives of others first. */
static void probe_then_others(void)
{
    scene_t scene;
    scene_begin(&scene, 0, ITEMS);
    note_probe("probe 7", mt_left, 7, MPI_FLOAT);
    note_probe("probe 2", mt_left, 2, MPI_FLOAT);
    scene_receive(&scene, "others", mt_left, 4, MPI_FLOAT);
    scene_receive(&scene, "others", MPI_ANY_SOURCE, 7, MPI_FLOAT);
    note_probe("probe 5", MPI_ANY_SOURCE, 5, MPI_FLOAT);
    scene_receive(&scene, "others", MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_BYTE);
    scene_receive(&scene, "others", mt_left, 5, MPI_FLOAT);
    scene_receive(&scene, "others", mt_left, 2, MPI_FLOAT);
    for (int i = 0; i < 3; i++)
        scene_receive(&scene, "rest", MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_BYTE);
    scene_end(&scene);
}

/* A nonblocking receive posted after a probe, and one posted before the message comes. */
static void probe_beside_posted(void)
{
    scene_t scene;
    float *early = mt_alloc(ROOM);
    MPI_Request posted[2];
    MPI_Status status;
    MPI_Irecv(early, 4000, MPI_FLOAT, mt_left, 0, MPI_COMM_WORLD, &posted[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    scene_begin(&scene, 0, ITEMS);
    note_probe("probe beside a posted receive", mt_left, 1, MPI_BYTE);
    note_iprobe("iprobe of what is posted", mt_left, 0);
    note_probe("probe any", MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_BYTE);
    MPI_Irecv(scene.received, 12000, MPI_FLOAT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &posted[1]);
    mt_status_clear(&status);
    MPI_Wait(&posted[1], &status);
    scene_check(&scene, "posted after the probe", &status);
    mt_status_clear(&status);
    MPI_Wait(&posted[0], &status);
    mt_status("posted before", &status, MPI_FLOAT);
    mt_check("posted before", early, 4000, MT_FLOAT, 0);
    for (int i = 0; i < 6; i++)
        scene_receive(&scene, "rest", mt_left, MPI_ANY_TAG, MPI_BYTE);
    mt_free(early);
    scene_end(&scene);
}

static void matched_receive(scene_t *scene, const char *label, MPI_Message *message, int way)
{
    MPI_Status status;
    MPI_Request request;
    int flag = 0;
    mt_status_clear(&status);
    if (way == 0) {
        mt_result(label, MPI_Mrecv(scene->received, ROOM, MPI_BYTE, message, &status));
    } else {
        mt_result(label, MPI_Imrecv(scene->received, ROOM, MPI_BYTE, message, &request));
        if (way == 1)
            MPI_Wait(&request, &status);
        while (way == 2 && !flag)
            MPI_Test(&request, &flag, &status);
        mt_request(label, request);
    }
    mt_say("%s message %s", label, *message == MPI_MESSAGE_NULL ? "null" : "kept");
    scene_check(scene, label, &status);
}

/* Matched probes of all messages, by tag or in order, received backwards; each is matched once. */
static void matched_probes(bool by_tag)
{
    scene_t scene;
    MPI_Message messages[ITEMS];
    scene_begin(&scene, 0, ITEMS);
    for (int i = 0; i < ITEMS; i++) {
        MPI_Status status;
        int flag = 0, tag = by_tag ? (i * 3 + 2) % ITEMS : MPI_ANY_TAG;
        mt_status_clear(&status);
        if (i % 2) {
            MPI_Mprobe(mt_left, tag, MPI_COMM_WORLD, &messages[i], &status);
        } else {
            while (!flag)
                MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &messages[i], &status);
        }
        mt_status("matched", &status, MPI_FLOAT);
        if (by_tag)
            note_iprobe("iprobe of what is matched", mt_left, tag);
    }
    note_iprobe("iprobe when all are matched", MPI_ANY_SOURCE, MPI_ANY_TAG);
    for (int i = ITEMS - 1; i >= 0; i--)
        matched_receive(&scene, "matched", &messages[i], i % 3);
    scene_end(&scene);
}

/* One message is matched; receives and probes of the others go on round it. */
static void matched_among_others(void)
{
    scene_t scene;
    MPI_Message message;
    MPI_Status status;
    scene_begin(&scene, 0, ITEMS);
    MPI_Mprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &message, &status);
    for (int i = 0; i < 4; i++)
        scene_receive(&scene, "before the matched", MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_BYTE);
    note_probe("probe past the matched", MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_FLOAT);
    scene_receive(&scene, "past the matched", mt_left, MPI_ANY_TAG, MPI_BYTE);
    matched_receive(&scene, "the matched", &message, 0);
    for (int i = 0; i < 2; i++)
        scene_receive(&scene, "rest", MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_BYTE);
    scene_end(&scene);
}

/*
 * A synchronous send completes only when its receive has begun, however often it was probed. Its
 * content is noise of ordinary lengths, so that it travels raw under every policy.
 */
static void probe_synchronous(int count)
{
    enum { PROBED = 90, TESTED = 91 };
    unsigned char *sent = mt_alloc_sealed((size_t)count, MT_NOISE, 9), *received = mt_alloc(ROOM);
    MPI_Request request;
    MPI_Status status;
    int flag = 0;
    MPI_Issend(sent, count, MPI_BYTE, mt_right, 3, MPI_COMM_WORLD, &request);
    note_probe("probe synchronous", MPI_ANY_SOURCE, 3, MPI_BYTE);
    note_iprobe("iprobe synchronous", mt_left, MPI_ANY_TAG);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, mt_left, PROBED, NULL, 0, MPI_BYTE, mt_right, PROBED,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5 && !flag; i++)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    mt_say("synchronous send of %d complete before its receive: %d", count, flag);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, mt_right, TESTED, NULL, 0, MPI_BYTE, mt_left, TESTED,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mt_status_clear(&status);
    MPI_Recv(received, ROOM, MPI_BYTE, mt_left, 3, MPI_COMM_WORLD, &status);
    mt_status("synchronous", &status, MPI_BYTE);
    mt_check("synchronous", received, (size_t)count, MT_NOISE, 9);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    mt_free(sent);
    mt_free(received);
}

/*
 * A probe for one message must not receive the synchronous one before it, though that has a frame's
 * length: its send is not complete.
 */
static void probe_past_synchronous(void)
{
    enum { FIRST = 3, SECOND = 4, PROBED = 90, TESTED = 91 };
    int count = (int)mt_odd_count(1200, MT_NOISE), flag = 0;
    void *first = mt_alloc_sealed((size_t)count, MT_NOISE, 9);
    void *second = mt_alloc_sealed(4000, MT_FLOAT, 4), *received = mt_alloc(ROOM);
    MPI_Request requests[2];
    MPI_Issend(first, count, MPI_BYTE, mt_right, FIRST, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(second, 4000, MPI_FLOAT, mt_right, SECOND, MPI_COMM_WORLD, &requests[1]);
    note_probe("probe past synchronous", mt_left, SECOND, MPI_FLOAT);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, mt_left, PROBED, NULL, 0, MPI_BYTE, mt_right, PROBED,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5 && !flag; i++)
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    mt_say("synchronous send before the probed one complete: %d", flag);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, mt_right, TESTED, NULL, 0, MPI_BYTE, mt_left, TESTED,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(received, ROOM, MPI_BYTE, mt_left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mt_check("synchronous, passed", received, (size_t)count, MT_NOISE, 9);
    MPI_Recv(received, 4000, MPI_FLOAT, mt_left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mt_check("probed past it", received, 4000, MT_FLOAT, 4);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    mt_free(first);
    mt_free(second);
    mt_free(received);
}

/* Wildcard probes by a rank to which all others send at once: order within each source. */
static void probe_many_sources(void)
{
    enum { EACH = 6 };
    float *buffer = mt_alloc(ROOM);
    if (mt_rank > 0) {
        for (int i = 0; i < EACH; i++) {
            size_t count = i % 2 ? 40 : 4000;
            mt_fill(buffer, count, MT_FLOAT, (unsigned)(mt_rank * EACH + i));
            MPI_Send(buffer, (int)count, MPI_FLOAT, 0, i % 3, MPI_COMM_WORLD);
        }
    } else {
        int *next = calloc((size_t)mt_size, sizeof *next);
        char **notes = calloc((size_t)(mt_size * EACH), sizeof *notes);
        for (int i = 0; i < (mt_size - 1) * EACH; i++) {
            MPI_Status found, status;
            int count;
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found);
            MPI_Get_count(&found, MPI_FLOAT, &count);
            mt_status_clear(&status);
            MPI_Recv(buffer, count, MPI_FLOAT, found.MPI_SOURCE, found.MPI_TAG, MPI_COMM_WORLD,
                     &status);
            int number = found.MPI_SOURCE * EACH + next[found.MPI_SOURCE]++;
            mt_capture();
            mt_status("many sources", &status, MPI_FLOAT);
            mt_check("many sources", buffer, (size_t)count, MT_FLOAT, (unsigned)number);
            notes[number] = mt_release();
        }
        for (int i = EACH; i < mt_size * EACH; i++) {
            mt_write(notes[i]);
            free(notes[i]);
        }
        free(notes);
        free(next);
    }
    mt_free(buffer);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void body(void)
{
    probe_repeatedly();
    probe_then_wildcard(5);
    probe_then_wildcard(7);
    probe_then_others();
    probe_beside_posted();
    matched_probes(false);
    matched_probes(true);
    matched_among_others();
    probe_synchronous(1000);
    probe_synchronous(4096);
    probe_synchronous(40000);
    probe_past_synchronous();
    probe_many_sources();
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "probe", body);
}
