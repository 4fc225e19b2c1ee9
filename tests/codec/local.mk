# Unit tests of the codec, by Check. Every program is linked with support.c.
check_LTLIBRARIES += libcodectest.la
libcodectest_la_SOURCES = %D%/support.h %D%/support.c
libcodectest_la_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
libcodectest_la_LIBADD = libcodec.la $(CHECK_LIBS) -lm

codec_tests = \
	%D%/test_frame \
	%D%/test_golden \
	%D%/test_roundtrip \
	%D%/test_special
check_PROGRAMS += $(codec_tests)
TESTS += $(codec_tests)

%C%_test_frame_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_frame_LDADD = libcodectest.la
%C%_test_roundtrip_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_roundtrip_LDADD = libcodectest.la
# The compiler must not compute under the default rounding mode what runs under another.
%C%_test_special_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -frounding-math
%C%_test_special_LDADD = libcodectest.la
%C%_test_golden_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_golden_LDADD = libgolden.la libcodectest.la
