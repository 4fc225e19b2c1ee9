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
