# libcodec.la: frames, codecs and kernels; linked into the library, the tools and the tests by
# CODEC_LIBS, as a convenience library cannot carry a static one.
CODEC_LIBS = libcodec.la $(ZSTD_STATIC) -lm
noinst_LTLIBRARIES += libcodec.la
libcodec_la_SOURCES = \
	%D%/tah.h %D%/names.c \
	%D%/bytes.h %D%/checksum.h %D%/environment.h %D%/frame.h %D%/frame.c \
	%D%/codec.h %D%/codec.c %D%/tah.c %D%/uniform.c \
	%D%/tiled.h %D%/tiled.c %D%/tiled_encode.c %D%/measure.h %D%/measure.c \
	%D%/tile.h %D%/tile.c %D%/tile_math.h %D%/tile_math.c %D%/entropy.c \
	%D%/pool.h %D%/pool.c %D%/stream.h %D%/stream.c \
	%D%/tahx.h %D%/tahx.c %D%/tahx_tables.h %D%/tahx_tables.c %D%/tahx_format.c %D%/tahx_rate.c \
	%D%/tahx_vectors.h %D%/tahx_vectors.c %D%/tahx_choose.c %D%/tahx_tile.c %D%/tahx_encode.c %D%/tahx_decode.c \
	%D%/convert.h %D%/convert.c \
	%D%/kernels.h %D%/kernel_scalar.c %D%/dispatch.c
libcodec_la_CFLAGS = $(AM_CFLAGS) $(TAH_CODEC_CFLAGS)
libcodec_la_LIBADD =

# Each kernel is a library of its own, for the sake of its compiler flags.
VECTOR_KERNEL = %D%/simd.h %D%/kernel_vector.h %D%/kernel_vector_encode.h \
	%D%/kernel_vector_decode.h %D%/kernel_vector_keys.h
TAHX_VECTOR_KERNEL = %D%/tahx_vector_scan.h %D%/tahx_vector_batch.h %D%/tahx_vector_encode.h \
	%D%/tahx_vector_decode.h
if KERNEL_AVX2
noinst_LTLIBRARIES += libcodec_avx2.la
libcodec_avx2_la_SOURCES = $(VECTOR_KERNEL) %D%/simd_avx2.h %D%/kernel_avx2.c \
	%D%/tahx_avx2.h %D%/tahx_avx2.c %D%/tahx_avx2_encode.c %D%/tahx_avx2_decode.c \
	$(TAHX_VECTOR_KERNEL)
libcodec_avx2_la_CFLAGS = $(AM_CFLAGS) $(TAH_CODEC_CFLAGS) $(AVX2_CFLAGS)
libcodec_la_LIBADD += libcodec_avx2.la
endif
if KERNEL_AVX512
noinst_LTLIBRARIES += libcodec_avx512.la
libcodec_avx512_la_SOURCES = $(VECTOR_KERNEL) %D%/simd_avx512.h %D%/table_64.h %D%/kernel_avx512.c \
	%D%/tahx_avx512.h %D%/tahx_avx512_planes.h %D%/tahx_avx512.c \
	%D%/tahx_avx512_encode.c %D%/tahx_avx512_decode.c \
	$(TAHX_VECTOR_KERNEL)
libcodec_avx512_la_CFLAGS = $(AM_CFLAGS) $(TAH_CODEC_CFLAGS) $(AVX512_CFLAGS)
libcodec_la_LIBADD += libcodec_avx512.la
endif

if WITH_ZSTD
libcodec_la_SOURCES += %D%/lossless.c
libcodec_la_CFLAGS += $(ZSTD_CFLAGS)
endif
