# libcodec.la: frames, codecs and kernels; linked into the library, the tools and the tests.
noinst_LTLIBRARIES += libcodec.la
libcodec_la_SOURCES = %D%/tah.h %D%/names.c
libcodec_la_CFLAGS = $(AM_CFLAGS) $(TAH_CODEC_CFLAGS)
