# MPI programs that know nothing of the library, and the scripts that run them with and without it.
shim_scripts = %D%/comms.tap %D%/cost.tap %D%/coverage.tap %D%/damage.tap %D%/loaders.tap \
	%D%/p2p.tap %D%/profilers.tap %D%/quiet.tap %D%/report.tap %D%/requests.tap \
	%D%/start.tap %D%/threads.tap %D%/types.tap
TESTS += $(shim_scripts)
EXTRA_DIST += $(shim_scripts) %D%/one.sh %D%/coverage.py %D%/passthrough.txt \
	%D%/policies/bytes.ini %D%/policies/lossless.ini %D%/policies/tah.ini

check_PROGRAMS += %D%/basetypes %D%/callbacks %D%/claims %D%/comms %D%/completion %D%/cost %D%/damaged %D%/dynamic \
	%D%/finalize %D%/first %D%/forks %D%/freed %D%/habits %D%/large %D%/loader \
	%D%/matched %D%/modes %D%/multiple %D%/nobody %D%/order %D%/persistent %D%/probe %D%/profiled \
	%D%/sendrecv %D%/truncate %D%/types
tests_shim_basetypes_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_basetypes_LDADD = $(MT_LIBS)
tests_shim_callbacks_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_callbacks_LDADD = $(MT_LIBS)
tests_shim_claims_SOURCES = %D%/claims.c %D%/holder.h
tests_shim_claims_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_claims_LDADD = $(MT_LIBS) -ldl
tests_shim_comms_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_comms_LDADD = $(MT_LIBS)
tests_shim_completion_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_completion_LDADD = $(MT_LIBS)
tests_shim_cost_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_cost_LDADD = $(MT_LIBS)
tests_shim_damaged_SOURCES = %D%/damaged.c %D%/damager.h
tests_shim_damaged_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_damaged_LDADD = $(MT_LIBS)
tests_shim_dynamic_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_dynamic_LDADD = $(MT_LIBS)
tests_shim_finalize_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_finalize_LDADD = $(MT_LIBS)
tests_shim_first_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_first_LDADD = $(MT_LIBS)
tests_shim_forks_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_forks_LDADD = $(MT_LIBS)
tests_shim_freed_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_freed_LDADD = $(MT_LIBS)
tests_shim_habits_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_habits_LDADD = $(MT_LIBS)
tests_shim_large_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_large_LDADD = $(MT_LIBS)
tests_shim_loader_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_loader_LDADD = -ldl
tests_shim_matched_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_matched_LDADD = $(MT_LIBS)
tests_shim_modes_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_modes_LDADD = $(MT_LIBS)
tests_shim_multiple_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_multiple_LDADD = $(MT_LIBS)
tests_shim_nobody_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_nobody_LDADD = $(MT_LIBS)
tests_shim_order_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_order_LDADD = $(MT_LIBS)
tests_shim_persistent_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_persistent_LDADD = $(MT_LIBS)
tests_shim_probe_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_probe_LDADD = $(MT_LIBS)
tests_shim_sendrecv_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_sendrecv_LDADD = $(MT_LIBS)
tests_shim_truncate_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_truncate_LDADD = $(MT_LIBS)
tests_shim_types_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_types_LDADD = $(MT_LIBS)
tests_shim_profiled_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_profiled_LDADD = $(MT_LIBS)

check_LTLIBRARIES += libprofiler.la
libprofiler_la_SOURCES = %D%/profiler.c
libprofiler_la_CPPFLAGS = $(MT_CPPFLAGS)
libprofiler_la_CFLAGS = $(PRELOADED_CFLAGS)
libprofiler_la_LDFLAGS = $(PRELOADED_LDFLAGS)

check_LTLIBRARIES += liblate.la
liblate_la_SOURCES = %D%/late.c
liblate_la_CPPFLAGS = $(MT_CPPFLAGS)
liblate_la_CFLAGS = $(PRELOADED_CFLAGS)
liblate_la_LDFLAGS = $(PRELOADED_LDFLAGS)

# The same program as a plug-in, for loader.
check_LTLIBRARIES += libplugin.la
libplugin_la_SOURCES = %D%/profiled.c
libplugin_la_CPPFLAGS = $(MT_CPPFLAGS)
libplugin_la_CFLAGS = $(PRELOADED_CFLAGS)
libplugin_la_LDFLAGS = $(PRELOADED_LDFLAGS)
libplugin_la_LIBADD = $(MT_LIBS)

check_LTLIBRARIES += libdamager.la
libdamager_la_SOURCES = %D%/damager.c %D%/damager.h
libdamager_la_CPPFLAGS = $(MT_CPPFLAGS)
libdamager_la_CFLAGS = $(PRELOADED_CFLAGS)
libdamager_la_LDFLAGS = $(PRELOADED_LDFLAGS)

check_LTLIBRARIES += libholder.la
libholder_la_SOURCES = %D%/holder.c %D%/holder.h
libholder_la_CPPFLAGS = $(MT_CPPFLAGS)
libholder_la_CFLAGS = $(PRELOADED_CFLAGS)
libholder_la_LDFLAGS = $(PRELOADED_LDFLAGS)
