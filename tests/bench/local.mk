# Benchmarks: built by make check, run by hand on an idle machine.
check_PROGRAMS += %D%/calls
tests_bench_calls_CPPFLAGS = $(MPI_CPPFLAGS)
tests_bench_calls_LDADD = $(MPI_LIBS)
EXTRA_DIST += %D%/calls.sh
