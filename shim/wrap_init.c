/* The library's life: from MPI_Init to MPI_Finalize, or to a process that ends without it. */
#include "config.h"

#include "shim/agree.h"
#include "shim/buffers.h"
#include "shim/comms.h"
#include "shim/log.h"
#include "shim/report.h"
#include "shim/trace.h"
#include "shim/types.h"
#include "shim/warmup.h"
#include "shim/workers.h"
#include "shim/watch.h"
#include "shim/wrap.h"

static bool init_agreed; /* shim.comm is there */

/*
 * The last thing before MPI is taken apart, and collective: an attribute of MPI_COMM_SELF, whose
 * callbacks come first in MPI_Finalize, in the reverse of the order in which they were set (MPI 4.0,
 * 11.2.4). The program's, which may wait for ranks that are not there yet, are done by then.
 */
static int init_end(MPI_Comm comm, int keyval, void *value, void *state)
{
    report_gather();
    trace_gather();
    agree_end();
    return MPI_SUCCESS;
}

/* Not MPI_COMM_NULL_COPY_FN: a symbol of MPI's, which programs without MPI do not have. */
static int init_no_copy(MPI_Comm comm, int keyval, void *state, void *value, void *copy, int *flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}

static bool init_end_later(void)
{
    int keyval, rc = pmpi.Comm_create_keyval(init_no_copy, init_end, &keyval, NULL);
    if (rc == MPI_SUCCESS)
        rc = pmpi.Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    if (rc == MPI_SUCCESS)
        rc = pmpi.Comm_free_keyval(&keyval); /* it lives as long as the attribute */
    return rc == MPI_SUCCESS;
}

static void init_activate(void)
{
    int level = MPI_THREAD_SINGLE;
    pmpi.Query_thread(&level);
    shim.threads = level == MPI_THREAD_MULTIPLE;
    shim.least_bytes = policy_least_bytes(shim.policy);
    workers_start();
    if (types_start() != 0 || warmup_start() != 0) {
        log_error("out of memory at start: everything is sent raw by this rank");
        return;
    }
    comms_learn(MPI_COMM_WORLD);
    watch_start();
    shim.active = true;
}

static void init_start(void)
{
    settings_t own;
    char why[SETTINGS_PATH_BYTES + 256] = "";
    calls_resolve();
    settings_read(&own, why, sizeof why);
    log_level = (log_level_t)own.log_level;
    if (agree_start(&own, why) != 0)
        return;
    if (!init_end_later()) {
        log_error("no attribute can be set on MPI_COMM_SELF: everything is sent raw by this rank");
        agree_end();
        return;
    }
    init_agreed = true;
    report_start();
    trace_start();
    if (policy_rule_count(shim.policy) > 0 || shim.settings.observe ||
        shim.settings.dump[0] != '\0')
        init_activate();
    log_info("%d rules, kernel %s", policy_rule_count(shim.policy), tah_kernel_name());
}

int wrap_init_single(int *argc, char ***argv)
{
    int rc = next.MPI_Init(argc, argv);
    if (rc == MPI_SUCCESS)
        init_start();
    return rc;
}

int wrap_init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = next.MPI_Init_thread(argc, argv, required, provided);
    if (rc == MPI_SUCCESS)
        init_start();
    return rc;
}

/*
 * The library works on while MPI_Finalize runs, since attributes on MPI_COMM_SELF are deleted
 * there and a program's callbacks may still communicate.
 */
int wrap_finalize(void)
{
    if (!init_agreed)
        return next.MPI_Finalize();
    init_agreed = false;
    if (shim.active)
        requests_finalize();
    int rc = next.MPI_Finalize();
    if (shim.active)
        requests_finalized();
    shim.active = false;
    report_write();
    types_drop();
    comms_drop();
    warmup_drop();
    buffers_drop();
    workers_end();
    return rc;
}

/* A process that ends without MPI_Finalize, or is ended by exit: what it knows is not lost. */
static void __attribute__((destructor)) init_unload(void)
{
    if (init_agreed) {
        report_write_own();
        trace_write_own();
    }
}
