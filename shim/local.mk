# libtahmpi.so: what is preloaded. Not linked to MPI; nothing but libc, libm and hwloc at load.
lib_LTLIBRARIES += libtahmpi.la
libtahmpi_la_SOURCES = \
	%D%/agree.c %D%/agree.h %D%/announce.c %D%/announce.h %D%/batch.c %D%/batch.h \
	%D%/buffers.c %D%/buffers.h %D%/caller.c %D%/caller.h %D%/calls.c %D%/calls.h \
	%D%/calls_each.h %D%/comms.c %D%/comms.h %D%/device.c %D%/device.h %D%/dump.c %D%/dump.h \
	%D%/errors.c %D%/errors.h %D%/file.c %D%/file.h %D%/handle_table.h %D%/log.c %D%/log.h \
	%D%/message.c %D%/message.h \
	%D%/mpi_calls.def %D%/mpi_header.h %D%/report.c %D%/report.h %D%/report_figures.h \
	%D%/report_write.c %D%/requests.c %D%/requests.h %D%/restore.c %D%/settings.c %D%/settings.h \
	%D%/shim.c %D%/shim.h %D%/stash.c %D%/stash.h %D%/stash_receive.c %D%/thread.c %D%/thread.h \
	%D%/trace.c %D%/trace.h %D%/traffic.c %D%/traffic.h %D%/traffic_write.c %D%/types.c %D%/types.h %D%/types_pack.c \
	%D%/warmup.c %D%/warmup.h %D%/watch.c %D%/watch.h %D%/watchdog.c %D%/watchdog.h %D%/wrap.h \
	%D%/wrap_init.c %D%/wrap_objects.c %D%/wrap_persistent.c %D%/wrap_probe.c %D%/wrap_recv.c \
	%D%/wrap_request.c %D%/wrap_send.c %D%/wrap_sendrecv.c %D%/wrap_wait.c %D%/wrappers.c \
	%D%/workers.c %D%/workers.h
libtahmpi_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
# Calls must return to the library: caller.c tells by return addresses who makes a call.
libtahmpi_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) -fno-optimize-sibling-calls
libtahmpi_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-Wl,--version-script=$(top_srcdir)/%D%/shim.map
libtahmpi_la_LIBADD = $(POLICY_LIBS) $(CODEC_LIBS) $(HWLOC_LIBS)
libtahmpi_la_DEPENDENCIES = libpolicy.la libcodec.la $(top_srcdir)/%D%/shim.map
EXTRA_DIST += %D%/shim.map
