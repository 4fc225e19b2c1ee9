# Benchmarks: built by make check, run by hand on an idle machine.
check_PROGRAMS += %D%/calls
tests_bench_calls_CPPFLAGS = $(MPI_CPPFLAGS)
tests_bench_calls_LDADD = $(MPI_LIBS)
EXTRA_DIST += %D%/calls.sh %D%/start.sh

check_PROGRAMS += %D%/codec_bench
%C%_codec_bench_SOURCES = %D%/bench.h %D%/codec_bench.c %D%/contender.c %D%/tensor.c %D%/print.c
%C%_codec_bench_CFLAGS = $(AM_CFLAGS) $(ZSTD_CFLAGS)
%C%_codec_bench_LDADD = libnpy.la $(POLICY_LIBS) $(CODEC_LIBS) $(ZFP_LIBS) -lm
TESTS += %D%/codec_bench.tap
EXTRA_DIST += %D%/codec_bench.tap

.PHONY: bench
bench: %D%/codec_bench
	%D%/codec_bench
