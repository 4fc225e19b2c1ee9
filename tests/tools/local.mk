# The tahmpi command, and programs for it to look at.
tools_scripts = %D%/command.tap %D%/prepare.tap %D%/check.tap %D%/info.tap %D%/ab.tap \
	%D%/bw.tap %D%/trace.tap %D%/traffic.tap %D%/try.tap
TESTS += $(tools_scripts)
EXTRA_DIST += $(tools_scripts)

check_PROGRAMS += %D%/uses_mpi %D%/own_mpi %D%/plain %D%/static_program %D%/sends_floats \
	%D%/sends_kinds
%C%_uses_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
%C%_uses_mpi_LDADD = $(MPI_LIBS)
%C%_sends_floats_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
%C%_sends_floats_LDADD = $(MPI_LIBS)
%C%_sends_kinds_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
%C%_sends_kinds_LDADD = $(MPI_LIBS)
# Sanitizers cannot be linked statically.
%C%_static_program_SOURCES = %D%/plain.c
%C%_static_program_CFLAGS =
%C%_static_program_LDFLAGS = -all-static
