# TAH_INSTRUCTION_SETS: which kernels this compiler can build. The processor of the build machine
# plays no part: the library chooses at run time.
AC_DEFUN([TAH_INSTRUCTION_SETS], [
tah_kernels=
TAH_KERNEL([AVX2], [avx2], [-mavx2 -mfma -mf16c -mbmi2])
TAH_KERNEL([AVX512], [avx512], [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512vnni -mgfni -mavx2 -mfma -mf16c -mbmi2])
])

# TAH_KERNEL(NAME, name, flags)
AC_DEFUN([TAH_KERNEL], [
AC_MSG_CHECKING([whether $CC can build the $2 kernel])
tah_save_cflags=$CFLAGS; CFLAGS="$CFLAGS $3"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <immintrin.h>]], [[__m256i a = _mm256_setzero_si256(); (void)a;]])],
    [tah_have_$2=yes; tah_kernels="$tah_kernels $2"; AC_DEFINE([HAVE_KERNEL_$1], [1], [the $2 kernel is built])],
    [tah_have_$2=no])
CFLAGS=$tah_save_cflags
AC_MSG_RESULT([$tah_have_$2])
AC_SUBST([$1_CFLAGS], ["$3"])
AM_CONDITIONAL([KERNEL_$1], [test $tah_have_$2 = yes])
])

# TAH_COMPILER_FLAGS: warnings, the strict floating point that bit-identical kernels need, and
# --enable-sanitizer=address,undefined | thread for test builds.
AC_DEFUN([TAH_COMPILER_FLAGS], [
AC_ARG_ENABLE([sanitizer], [AS_HELP_STRING([--enable-sanitizer=LIST], [build with -fsanitize=LIST])],
              [], [enable_sanitizer=no])
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [warnings are errors])], [], [enable_werror=no])
TAH_CFLAGS="-std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wno-unused-parameter"
# MPICH's MPI_STATUSES_IGNORE is an address, 1, where GCC sees no room for an array.
TAH_WARNING([-Wno-stringop-overflow])
TAH_WARNING([-Wno-stringop-overread])
# No fused multiply-add and no value-changing shortcut unless the source asks: every kernel gives the same bits.
TAH_CODEC_CFLAGS="-ffp-contract=off -fno-fast-math -fno-trapping-math -fno-math-errno"
AS_IF([test "$enable_werror" != no], [TAH_CFLAGS="$TAH_CFLAGS -Werror"])
AS_IF([test "$enable_sanitizer" != no],
      [TAH_CFLAGS="$TAH_CFLAGS -fsanitize=$enable_sanitizer -fno-omit-frame-pointer -g"
       TAH_SANITIZER_LDFLAGS="-fsanitize=$enable_sanitizer"])
AC_SUBST([TAH_CFLAGS])
AC_SUBST([TAH_CODEC_CFLAGS])
AC_SUBST([TAH_SANITIZER_LDFLAGS])
AM_CONDITIONAL([SANITIZED], [test "$enable_sanitizer" != no])
AM_CONDITIONAL([SANITIZED_THREAD], [test "$enable_sanitizer" = thread])
])

# TAH_WARNING(flag): a compiler flag for TAH_CFLAGS, where the compiler knows it.
AC_DEFUN([TAH_WARNING], [
AC_MSG_CHECKING([whether $CC knows $1])
tah_save_cflags=$CFLAGS; CFLAGS="$CFLAGS -Werror $1"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM()], [AC_MSG_RESULT([yes]); TAH_CFLAGS="$TAH_CFLAGS $1"], [AC_MSG_RESULT([no])])
CFLAGS=$tah_save_cflags
])
