# libmt.la: what the MPI test programs share. The scripts' shared parts are shell files beside it.
check_LTLIBRARIES += libmt.la
libmt_la_SOURCES = %D%/mt.h %D%/mt_internal.h %D%/mt_p2p.h %D%/mt_types.h \
	%D%/mt.c %D%/mt_data.c %D%/mt_mpi.c %D%/mt_p2p.c %D%/mt_threads.c %D%/mt_types.c
libmt_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
noinst_HEADERS += %D%/check_run.h
EXTRA_DIST += %D%/tap.sh %D%/launch.sh %D%/compare.sh %D%/python.sh %D%/report.sh \
	%D%/sanitizers.sh %D%/openmpi.supp
# For tests/*/local.mk: how a test program is compiled and linked.
MT_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
MT_LIBS = libmt.la $(MPI_LIBS) -lm -lpthread

# The same for a library that is preloaded beside ours, or loaded by a program: -rpath, since libtool
# would make a static one otherwise.
PRELOADED_CFLAGS = $(AM_CFLAGS) -fvisibility=default
PRELOADED_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
