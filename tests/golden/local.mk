# Golden frames: their files, the code that says what they hold, and the program that writes them.
check_LTLIBRARIES += libgolden.la
libgolden_la_SOURCES = %D%/golden.h %D%/golden.c %D%/golden_bad.c

check_PROGRAMS += %D%/golden_make
%C%_golden_make_LDADD = libgolden.la $(CODEC_LIBS)

EXTRA_DIST += $(srcdir)/%D%/*.frame $(srcdir)/%D%/*.tensor \
	$(srcdir)/tests/golden-bad/*.frame $(srcdir)/tests/golden-bad/expected.txt
