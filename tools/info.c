/* tahmpi info: this tahmpi, this machine, and whether a program can be run under it. */
#include "config.h"

#include <hwloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codec/tah.h"
#include "tools/program.h"
#include "tools/tahmpi.h"

static void print_library(void)
{
    static const char path[] = TAH_LIBDIR "/libtahmpi.so";

    tahmpi_print_field("version", PACKAGE_VERSION);
    tahmpi_print_fieldf("frames", "version %d", TAH_WIRE_VERSION);
    tahmpi_print_field("MPI", TAH_MPI_NAME " (" TAH_MPI_SONAME ")");
    tahmpi_print_fieldf("library", "%s%s", path,
                        access(path, F_OK) == 0 ? "" : " (not installed there yet)");
}

static void print_kernels(void)
{
    static const char *const kernels[] = {"scalar", "avx2", "avx512"};
    char here[64] = "", missing[128] = "";

    for (int i = 0; i < 3; i++) {
        bool good = tah_kernel_select(kernels[i]) == TAH_OK;
        char *list = good ? here : missing;
        if (list[0])
            strcat(list, ", ");
        strcat(list, kernels[i]);
    }
    tah_kernel_select(NULL);
    tahmpi_print_fieldf("kernels", "%s; %s is used unless TAHMPI_ISA says otherwise%s%s", here,
                        tah_kernel_name(),
                        missing[0] ? "; not in this build or on this processor: " : "", missing);
}

/* Cores and threads that a process started here may use, and NUMA nodes. */
static void print_machine(void)
{
    hwloc_topology_t topology;
    hwloc_bitmap_t mine = hwloc_bitmap_alloc();
    int cores, nodes;

    if (hwloc_topology_init(&topology) != 0 || !mine) {
        tahmpi_print_field("machine", "hwloc cannot look at it: out of memory");
        hwloc_bitmap_free(mine);
        return;
    }
    if (hwloc_topology_load(topology) != 0) {
        tahmpi_print_field("machine", "hwloc cannot look at it");
    } else {
        if (hwloc_get_cpubind(topology, mine, HWLOC_CPUBIND_PROCESS) != 0)
            hwloc_bitmap_copy(mine, hwloc_topology_get_allowed_cpuset(topology));
        cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
        nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
        tahmpi_print_fieldf("machine",
                            "%d cores with %d hardware threads, of which a process started here "
                            "may use %d; %d NUMA node%s",
                            cores, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU),
                            hwloc_bitmap_weight(mine), nodes, nodes == 1 ? "" : "s");
    }
    hwloc_topology_destroy(topology);
    hwloc_bitmap_free(mine);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    const char **program = state->input;

    switch (key) {
    case ARGP_KEY_ARG:
        if (*program)
            argp_error(state, "only one program at a time, not \"%s\" too", argument);
        *program = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int tahmpi_info(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse_option,
        .args_doc = "[PROGRAM]",
        .doc = "Shows the version of tahmpi, the MPI it is built for, the kernels that this "
               "processor has, and the machine. With a program: whether tahmpi can be loaded into "
               "it (exit status 1 if not), and which MPI it uses. The program is not run."
               "\vExample:\n  tahmpi info ./my-trainer",
    };
    const char *program = NULL;

    tahmpi_parse(&argp, argc, argv, &program);
    print_library();
    print_kernels();
    print_machine();
    return !program || program_report(program) ? TAHMPI_GOOD : TAHMPI_BAD;
}
