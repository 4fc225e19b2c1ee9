# shellcheck shell=sh
# The environment of tests in a build with sanitizers: whatever one finds ends its process, and so the
# test. Sourced before each test. What MPI's libraries cannot stand or do wrong is set aside here.

# The library is preloaded, so ahead of the sanitizer's own that the program is linked to.
ASAN_OPTIONS=verify_asan_link_order=0:detect_stack_use_after_return=1
# LeakSanitizer guesses where thread-local data of libraries lies that a program loads as it runs, and
# crashes where it guesses wrong.
ASAN_OPTIONS=$ASAN_OPTIONS:intercept_tls_get_addr=0
UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS

# UCX, beneath MPICH, patches the functions that allocate memory, sanitizers do too: together they
# crash a program that does not even communicate.
UCX_MEM_EVENTS=no
export UCX_MEM_EVENTS

# hwloc, in MPICH's MPI_Init, loads plug-ins that leak, and unloads them, so that they cannot be named in
# a list of suppressions.
HWLOC_PLUGINS_PATH=/nonexistent
export HWLOC_PLUGINS_PATH

if [ "$TAH_MPI" = openmpi ]; then
    # It does not free all it allocates, nor say so where a list of suppressions could name it.
    ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
    TSAN_OPTIONS="$TSAN_OPTIONS:history_size=7:suppressions='$TAH_SOURCE/tests/lib/openmpi.supp'"
fi
