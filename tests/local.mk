# One place for every kind of test: tests/KIND/local.mk lists the files of its kind.
EXTRA_DIST += %D%/run.sh
include $(top_srcdir)/tests/lib/local.mk
include $(top_srcdir)/tests/codec/local.mk
include $(top_srcdir)/tests/fuzz/local.mk
include $(top_srcdir)/tests/golden/local.mk
include $(top_srcdir)/tests/oracle/local.mk
include $(top_srcdir)/tests/policy/local.mk
include $(top_srcdir)/tests/python/local.mk
include $(top_srcdir)/tests/shim/local.mk
include $(top_srcdir)/tests/device/local.mk
include $(top_srcdir)/tests/doc/local.mk
include $(top_srcdir)/tests/examples/local.mk
include $(top_srcdir)/tests/fortran/local.mk
include $(top_srcdir)/tests/tools/local.mk
include $(top_srcdir)/tests/bench/local.mk
include $(top_srcdir)/tests/slownet/local.mk

# A build with sanitizers, and the tests that such a build is for: those that do more than one thing
# at once; or all but those that measure the memory of processes or start many that are not ours.
if SANITIZED
SANITIZER_ENVIRONMENT = TAH_SANITIZER=$(SANITIZER); export TAH_SANITIZER; \
	. '$(abs_top_srcdir)/tests/lib/sanitizers.sh';
endif
if SANITIZED_THREAD
SANITIZER = thread
sanitized_tests = %D%/codec/test_threads %D%/shim/loaders.tap %D%/shim/threads.tap
else
SANITIZER = address
sanitized_tests = $(codec_tests) %D%/policy/policy %D%/fuzz/replay.tap %D%/shim/comms.tap \
	%D%/shim/damage.tap %D%/shim/loaders.tap %D%/shim/p2p.tap %D%/shim/profilers.tap \
	%D%/shim/requests.tap %D%/shim/threads.tap %D%/shim/types.tap
endif
check-sanitized:
	$(MAKE) check TESTS='$(sanitized_tests)'
.PHONY: check-sanitized
