# The tahmpi command, one file a subcommand. It is not linked to MPI.
bin_PROGRAMS += %D%/tahmpi
%C%_tahmpi_SOURCES = \
	%D%/ab.c %D%/ab.h %D%/ab_print.c %D%/ab_run.c %D%/ab_sample.c %D%/ab_write.c %D%/against.c \
	%D%/against.h %D%/bw.c %D%/bw.h %D%/bw_data.h %D%/bw_print.c \
	%D%/bw_read.c %D%/check.c %D%/elf_file.c %D%/elf_file.h %D%/info.c %D%/job.c \
	%D%/job.h %D%/job_folder.c %D%/job_output.c %D%/loader.c %D%/loader.h \
	%D%/output.c %D%/output.h %D%/plot.c %D%/plot.h %D%/program.c %D%/program.h \
	%D%/run_report.c %D%/run_report.h %D%/statistics.c %D%/statistics.h %D%/suggest.c \
	%D%/tahmpi.c %D%/tahmpi.h %D%/text.c %D%/try.c %D%/try.h %D%/try_measure.c \
	%D%/try_print.c \
	%D%/bw_policy.c %D%/clock.h
%C%_tahmpi_CPPFLAGS = $(AM_CPPFLAGS) -DTAH_LIBDIR='"$(libdir)"' \
	-DTAH_PKGLIBEXECDIR='"$(pkglibexecdir)"' \
	-DTAH_BINDIR='"$(bindir)"' -DTAH_MPIEXEC='"$(MPIEXEC)"'
%C%_tahmpi_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(CJSON_CFLAGS)
%C%_tahmpi_LDADD = libnpy.la $(POLICY_LIBS) $(CODEC_LIBS) $(HWLOC_LIBS) $(CJSON_LIBS) -lm

# Tensors from .npy files: for the command and for codec_bench.
noinst_LTLIBRARIES += libnpy.la
libnpy_la_SOURCES = %D%/npy.h %D%/npy.c

# What tahmpi bw runs.
pkglibexec_PROGRAMS += %D%/tahmpi-bw-ranks
%C%_tahmpi_bw_ranks_SOURCES = %D%/bw_ranks.c %D%/bw_data.h
%C%_tahmpi_bw_ranks_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
%C%_tahmpi_bw_ranks_LDADD = $(MPI_LIBS)

# slownet: hosts with slow links on one machine.
bin_SCRIPTS += %D%/slownet
EXTRA_DIST += %D%/slownet.in %D%/prepare.sh
CLEANFILES += %D%/slownet
slownet_directory = /run/netns/slownet
%D%/slownet: %D%/slownet.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && sed -e 's|@pkglibdir[@]|$(pkglibdir)|g' \
		-e 's|@SLOWNET_DIRECTORY[@]|$(slownet_directory)|g' -e 's|@TAH_MPI_NAME[@]|$(TAH_MPI_NAME)|g' \
		$(srcdir)/%D%/slownet.in >$@.tmp && chmod +x $@.tmp && mv $@.tmp $@

if WITH_MPICH
pkglib_LTLIBRARIES += slownet_finalize.la
slownet_finalize_la_SOURCES = %D%/slownet_finalize.c
slownet_finalize_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS) -DSLOWNET_DIRECTORY='"$(slownet_directory)"'
slownet_finalize_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared
endif
