# Unit tests of the codec, by Check. Every program is linked with support.c.
check_LTLIBRARIES += libcodectest.la
libcodectest_la_SOURCES = %D%/support.h %D%/support.c %D%/tensors.h %D%/tensors.c
libcodectest_la_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
CODEC_TEST_LIBS = libcodectest.la $(CODEC_LIBS) $(CHECK_LIBS)

codec_tests = \
	%D%/test_frame \
	%D%/test_golden \
	%D%/test_kernels \
	%D%/test_large \
	%D%/test_lossless \
	%D%/test_options \
	%D%/test_roundtrip \
	%D%/test_special \
	%D%/test_tahx \
	%D%/test_tahx_values \
	%D%/test_threads \
	%D%/test_types
check_PROGRAMS += $(codec_tests)
TESTS += $(codec_tests)

%C%_test_frame_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_frame_LDADD = $(CODEC_TEST_LIBS)
%C%_test_roundtrip_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_roundtrip_LDADD = $(CODEC_TEST_LIBS)
# The compiler must not compute under the default rounding mode what runs under another.
%C%_test_special_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -frounding-math
%C%_test_special_LDADD = $(CODEC_TEST_LIBS)
%C%_test_golden_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_golden_LDADD = libgolden.la $(CODEC_TEST_LIBS)
%C%_test_types_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_types_LDADD = $(CODEC_TEST_LIBS)
%C%_test_lossless_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_lossless_LDADD = $(CODEC_TEST_LIBS)
%C%_test_large_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_large_LDADD = $(CODEC_TEST_LIBS)
%C%_test_options_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_options_LDADD = $(CODEC_TEST_LIBS)
# As test_special.
%C%_test_kernels_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -frounding-math
%C%_test_kernels_LDADD = $(CODEC_TEST_LIBS)
%C%_test_tahx_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_tahx_LDADD = $(CODEC_TEST_LIBS)
%C%_test_tahx_values_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -frounding-math
%C%_test_tahx_values_LDADD = $(CODEC_TEST_LIBS)
%C%_test_threads_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_threads_LDADD = $(CODEC_TEST_LIBS)

# The levels of tahx, and the program that they come from.
TESTS += %D%/tahx_tables.tap
EXTRA_DIST += %D%/tahx_tables.tap %D%/tahx_tables.py %D%/ocr_svtr_in.bf16
