# TAH_LIBRARIES: the libraries of others that tahmpi stands on. inih and zstd go into the library
# statically, so that what is preloaded needs nothing but libc, libm and hwloc.
AC_DEFUN([TAH_LIBRARIES], [
PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.1], [], [TAH_MISSING([hwloc >= 2.1], [libhwloc-dev])])
PKG_CHECK_MODULES([CHECK], [check >= 0.15], [], [TAH_MISSING([Check >= 0.15], [check])])
PKG_CHECK_MODULES([CJSON], [libcjson >= 1.7], [], [TAH_MISSING([cJSON >= 1.7], [libcjson-dev])])
PKG_CHECK_MODULES([OPENBLAS], [openblas], [], [TAH_MISSING([OpenBLAS with cblas.h], [libopenblas-dev])])

AC_CHECK_HEADER([xxhash.h], [], [TAH_MISSING([xxhash.h], [libxxhash-dev])])
AC_CHECK_HEADER([uthash.h], [], [TAH_MISSING([uthash.h], [uthash-dev])])

PKG_CHECK_MODULES([INIH], [inih], [], [TAH_MISSING([inih], [libinih-dev])])
TAH_STATIC_LIBRARY([INIH_STATIC], [libinih.a], [ini_parse_stream], [libinih-dev])

AC_ARG_WITH([zstd], [AS_HELP_STRING([--without-zstd], [leave out the lossless codec])], [], [with_zstd=yes])
AS_CASE([$with_zstd], [yes|no], [], [AC_MSG_ERROR([--with-zstd=$with_zstd: must be yes or no])])
AS_IF([test $with_zstd != no],
      [PKG_CHECK_MODULES([ZSTD], [libzstd >= 1.4], [], [TAH_MISSING([zstd >= 1.4, or --without-zstd], [libzstd-dev])])
       TAH_STATIC_LIBRARY([ZSTD_STATIC], [libzstd.a], [ZSTD_compress], [libzstd-dev])
       AC_DEFINE([HAVE_ZSTD], [1], [the lossless codec is built])])
AM_CONDITIONAL([WITH_ZSTD], [test $with_zstd = yes])

# zfp is what codec_bench compares with; nothing that is installed uses it.
AC_ARG_WITH([zfp], [AS_HELP_STRING([--with-zfp], [compare with zfp in codec_bench @<:@if it is there@:>@])],
            [], [with_zfp=check])
ZFP_LIBS=
AS_IF([test $with_zfp != no],
      [AC_CHECK_HEADER([zfp.h], [tah_have_zfp=yes], [tah_have_zfp=no])
       tah_save_libs=$LIBS
       AS_IF([test $tah_have_zfp = yes], [AC_CHECK_LIB([zfp], [zfp_compress], [], [tah_have_zfp=no])])
       LIBS=$tah_save_libs
       AS_IF([test $tah_have_zfp = yes],
             [ZFP_LIBS=-lzfp
              AC_DEFINE([HAVE_ZFP], [1], [codec_bench compares with zfp])],
             [AS_IF([test $with_zfp = yes], [TAH_MISSING([zfp], [libzfp-dev])])])])
AC_SUBST([ZFP_LIBS])
])

# TAH_STATIC_LIBRARY(VARIABLE, archive, a function in it, Debian package)
AC_DEFUN([TAH_STATIC_LIBRARY], [
$1=`$CC -print-file-name=$2`
AC_MSG_CHECKING([for $2])
tah_save_libs=$LIBS; LIBS="[$]$1 $LIBS"
AC_LINK_IFELSE([AC_LANG_CALL([], [$3])], [AC_MSG_RESULT([[$]$1])],
               [AC_MSG_RESULT([no]); TAH_MISSING([the static library $2], [$4])])
LIBS=$tah_save_libs
AC_SUBST([$1])
])
