#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "shim/agree.h"
#include "shim/calls.h"
#include "shim/log.h"
#include "shim/shim.h"
#include "shim/watchdog.h"

#define AGREE_TAG 32117 /* of MPI_Comm_create_group: no receive or probe of a program sees it */
#define AGREE_MAGIC "tahmpi\0\1"
#define AGREE_EXIT 76

/* What each rank says of itself. Its layout does not change between versions of the library. */
typedef struct hello {
    char magic[8];
    uint32_t wire_version;
    uint32_t disabled;
    uint64_t policy_digest; /* of the file that this rank's TAHMPI_POLICY names; 0: none readable */
    char version[16];       /* of the library */
    char host[65];
    char reserved[23];
} hello_t;

/* The job cannot go on. One rank says why. */
static void __attribute__((noreturn)) agree_abort(void)
{
    log_drain();
    pmpi.Abort(MPI_COMM_WORLD, AGREE_EXIT);
    _exit(AGREE_EXIT);
}

/*
 * The first rank that does not answer must be named, and creating one communicator over all would
 * only say that somebody is missing. So ranks first meet in pairs along a binomial tree, each its
 * parent and then its children, in communicators over two that a rank without the library never
 * sees. Half the time-out is for a child. A rank waits longer for its parent, and the longer the
 * further it is from rank 0, but never longer than the time-out: so whoever misses the absent rank
 * itself speaks before those who wait for somebody that only waits.
 */
static void agree_meet(int other, double seconds)
{
    int pair[2] = {shim.rank < other ? shim.rank : other, shim.rank < other ? other : shim.rank};
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    watchdog_watch(other, seconds);
    pmpi.Group_incl(shim.world_group, 2, pair, &group);
    pmpi.Comm_create_group(MPI_COMM_WORLD, group, AGREE_TAG, &comm);
    pmpi.Group_free(&group);
    watchdog_rest();
    if (comm != MPI_COMM_NULL)
        pmpi.Comm_free(&comm);
}

static void agree_meet_all(double timeout)
{
    int lowest = shim.rank & -shim.rank;
    int depth = __builtin_popcount((unsigned)shim.rank), deepest = 0;
    while ((shim.size - 1) >> deepest != 0)
        deepest++;
    if (shim.rank != 0)
        agree_meet(shim.rank - lowest, timeout / 2 * (1 + (double)depth / deepest));
    for (int step = 1; (shim.rank == 0 || step < lowest) && shim.rank + step < shim.size; step *= 2)
        agree_meet(shim.rank + step, timeout / 2);
}

static uint64_t agree_digest(const char *text, size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a, 64 bits */
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash | 1;
}

static hello_t agree_own_hello(const settings_t *own, const char *policy, size_t policy_bytes)
{
    hello_t hello;
    memset(&hello, 0, sizeof hello);
    memcpy(hello.magic, AGREE_MAGIC, sizeof hello.magic);
    hello.wire_version = TAH_WIRE_VERSION;
    hello.disabled = own->disable;
    hello.policy_digest = policy != NULL ? agree_digest(policy, policy_bytes) : 0;
    snprintf(hello.version, sizeof hello.version, "%s", PACKAGE_VERSION);
    gethostname(hello.host, sizeof hello.host - 1);
    return hello;
}

/* Rank 0 judges; returns whether the ranks agree, and says why not. */
static bool agree_judge(const hello_t *all, const settings_t *own)
{
    for (int rank = 0; rank < shim.size; rank++) {
        const hello_t *h = &all[rank];
        if (memcmp(h->magic, AGREE_MAGIC, sizeof h->magic) != 0 ||
            h->wire_version != all[0].wire_version) {
            log_error("rank %d on %s has tahmpi %.16s with wire version %u, rank 0 on %s has %.16s "
                      "with wire version %u: load the same library on every rank",
                      rank, h->host, h->version, h->wire_version, all[0].host, all[0].version,
                      all[0].wire_version);
            return false;
        }
        if (h->policy_digest != 0 && h->policy_digest != all[0].policy_digest) {
            log_error("rank %d on %s was started with another policy than rank 0 on %s (%s): set "
                      "TAHMPI_POLICY to the same file on every rank, or on rank 0 alone, whose "
                      "policy holds for all",
                      rank, h->host, all[0].host,
                      own->policy[0] != '\0' ? own->policy : "TAHMPI_POLICY is not set there");
            return false;
        }
    }
    return true;
}

static bool agree_any_disabled(const hello_t *all)
{
    bool disabled = false;
    for (int rank = 0; rank < shim.size; rank++)
        disabled = disabled || all[rank].disabled;
    return disabled;
}

/* Rank 0 reads the policy; the text goes to all. Ends the job where it is wrong. */
static char *agree_share_policy(char *text, size_t *bytes)
{
    uint64_t length = text != NULL ? *bytes : 0;
    pmpi.Bcast(&length, 1, MPI_UINT64_T, 0, shim.comm);
    *bytes = (size_t)length;
    if (shim.rank != 0) {
        free(text);
        text = malloc(length + 1);
        if (text == NULL) {
            log_error("out of memory for a policy of %llu bytes", (unsigned long long)length);
            agree_abort();
        }
    }
    if (length > 0)
        pmpi.Bcast(text, (int)length, MPI_BYTE, 0, shim.comm);
    return text;
}

static void agree_parse_policy(const char *text, size_t bytes)
{
    policy_errors_t errors;
    const char *name = shim.settings.policy[0] != '\0' ? shim.settings.policy : "policy";
    shim.policy = policy_parse(text != NULL ? text : "", bytes, name, &errors);
    if (shim.policy != NULL)
        return;
    /* The same text everywhere, so the same mistakes: rank 0 speaks, and ends the job. */
    if (shim.rank == 0) {
        log_error("the policy has %d mistake%s:\n%s", errors.count, errors.count == 1 ? "" : "s",
                  errors.text);
        agree_abort();
    }
    for (;;)
        pause();
}

static void agree_share_key(void)
{
    ssize_t got = 0;
    if (shim.rank == 0)
        got = getrandom(shim.key, sizeof shim.key, 0);
    if (shim.rank == 0 && got != (ssize_t)sizeof shim.key) {
        log_error("no random numbers for the job's key: %s", strerror(errno));
        agree_abort();
    }
    pmpi.Bcast(shim.key, sizeof shim.key, MPI_BYTE, 0, shim.comm);
}

/* Ranks that share memory are on one node, named after its lowest rank. */
static void agree_find_nodes(void)
{
    MPI_Comm node;
    int lowest = shim.rank;
    int *nodes = calloc((size_t)shim.size, sizeof *nodes);
    if (nodes == NULL) {
        log_error("out of memory for a table of %d ranks", shim.size);
        agree_abort();
    }
    pmpi.Comm_split_type(shim.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    pmpi.Allreduce(&shim.rank, &lowest, 1, MPI_INT, MPI_MIN, node);
    pmpi.Comm_free(&node);
    pmpi.Allgather(&lowest, 1, MPI_INT, nodes, 1, MPI_INT, shim.comm);
    shim.node_of = nodes;
}

static void agree_select_kernel(void)
{
    tah_status_t status = tah_kernel_select(shim.settings.isa[0] ? shim.settings.isa : NULL);
    if (status == TAH_OK)
        return;
    log_error("TAHMPI_ISA=%s: %s", shim.settings.isa,
              status == TAH_ERR_PARAM ? "must be scalar, avx2, avx512 or auto"
                                      : "this build or this processor does not have it");
    agree_abort();
}

/* Gathers what the ranks say of themselves; false: somebody has the library switched off. */
static bool agree_greet(const settings_t *own, const char *text, size_t bytes)
{
    hello_t hello = agree_own_hello(own, text, bytes);
    hello_t *all = calloc((size_t)shim.size, sizeof *all);
    if (all == NULL) {
        log_error("out of memory for a table of %d ranks", shim.size);
        agree_abort();
    }
    pmpi.Allgather(&hello, sizeof hello, MPI_BYTE, all, sizeof hello, MPI_BYTE, shim.comm);
    bool disabled = agree_any_disabled(all);
    if (!disabled && shim.rank == 0 && !agree_judge(all, own))
        agree_abort();
    free(all);
    return !disabled;
}

/*
 * What was wrong with rank 0's settings, which hold for all, ends the job, unless it was asked to
 * keep out of it.
 */
static char *agree_check_own(const settings_t *own, const char *why, size_t *bytes)
{
    policy_errors_t errors;
    if (why[0] != '\0' && !own->disable && shim.rank == 0) {
        log_error("%s", why);
        agree_abort();
    }
    if (own->policy[0] == '\0' || own->disable)
        return NULL;
    char *text = policy_read(own->policy, bytes, &errors);
    /* Only rank 0 needs the file: others may be on hosts that do not have it. */
    if (text == NULL && shim.rank == 0) {
        log_error("TAHMPI_POLICY: %s", errors.text);
        agree_abort();
    }
    return text;
}

int agree_start(const settings_t *own, const char *why)
{
    size_t bytes = 0;
    pmpi.Comm_rank(MPI_COMM_WORLD, &shim.rank);
    pmpi.Comm_size(MPI_COMM_WORLD, &shim.size);
    pmpi.Comm_group(MPI_COMM_WORLD, &shim.world_group);
    log_set_rank(shim.rank);
    char *text = agree_check_own(own, why, &bytes);
    watchdog_start();
    agree_meet_all(own->timeout);
    watchdog_stop();
    pmpi.Comm_create_group(MPI_COMM_WORLD, shim.world_group, AGREE_TAG, &shim.comm);
    if (!agree_greet(own, text, bytes)) {
        free(text);
        agree_end();
        return -1;
    }
    shim.settings = *own;
    pmpi.Bcast(&shim.settings, sizeof shim.settings, MPI_BYTE, 0, shim.comm);
    log_level = (log_level_t)shim.settings.log_level;
    text = agree_share_policy(text, &bytes);
    agree_parse_policy(text, bytes);
    free(text);
    agree_share_key();
    agree_select_kernel();
    agree_find_nodes();
    return 0;
}

void agree_end(void)
{
    if (shim.comm != MPI_COMM_NULL)
        pmpi.Comm_free(&shim.comm);
    if (shim.world_group != MPI_GROUP_NULL)
        pmpi.Group_free(&shim.world_group);
}
