# The tahmpi command, one file a subcommand. It is not linked to MPI.
bin_PROGRAMS += %D%/tahmpi
%C%_tahmpi_SOURCES = %D%/tahmpi.h %D%/tahmpi.c %D%/text.c %D%/check.c %D%/info.c \
	%D%/program.h %D%/program.c %D%/loader.h %D%/loader.c %D%/elf_file.h %D%/elf_file.c
%C%_tahmpi_CPPFLAGS = $(AM_CPPFLAGS) -DTAH_LIBDIR='"$(libdir)"'
%C%_tahmpi_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS)
%C%_tahmpi_LDADD = $(POLICY_LIBS) $(CODEC_LIBS) $(HWLOC_LIBS)
