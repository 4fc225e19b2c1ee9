# TAH_MPI: finds the MPI whose programs the library will be loaded into.
#   --with-mpi=mpich|openmpi   which one (default: mpich)
#   MPICC=wrapper              its compiler wrapper, when it is not found by name
# Sets MPICC, MPIEXEC, MPI_CPPFLAGS (headers: all the library needs), MPI_LIBS (for examples and
# test programs only: the library itself is never linked to MPI), MPI_SONAME and tah_mpi_name.
AC_DEFUN([TAH_MPI], [
AC_ARG_VAR([MPICC], [MPI compiler wrapper])
AC_ARG_VAR([MPIEXEC], [MPI launcher])
AC_ARG_WITH([mpi], [AS_HELP_STRING([--with-mpi=mpich|openmpi], [the MPI to build for @<:@mpich@:>@])],
            [], [with_mpi=mpich])
AS_CASE([$with_mpi],
    [mpich|openmpi], [],
    [AC_MSG_ERROR([--with-mpi=$with_mpi: must be mpich or openmpi])])
AC_CHECK_PROGS([MPICC], [mpicc.$with_mpi mpicc])
AC_CHECK_PROGS([MPIEXEC], [mpiexec.$with_mpi mpiexec])
AS_IF([test -z "$MPICC"],
      [AS_IF([test $with_mpi = mpich], [TAH_MISSING([the compiler wrapper mpicc.mpich], [libmpich-dev])],
                                       [TAH_MISSING([the compiler wrapper mpicc.openmpi], [libopenmpi-dev])])],
      [AS_IF([tah_show=`$MPICC --showme:compile 2>/dev/null`],
             [MPI_CPPFLAGS=$tah_show; MPI_LIBS=`$MPICC --showme:link`],
             [tah_show=`$MPICC -show 2>/dev/null` || AC_MSG_ERROR([MPICC=$MPICC is not an MPI compiler wrapper])
              MPI_CPPFLAGS=; MPI_LIBS=
              for tah_word in $tah_show; do
                  AS_CASE([$tah_word],
                      [-I*|-D*], [MPI_CPPFLAGS="$MPI_CPPFLAGS $tah_word"],
                      [-L*|-l*|-Wl,*], [MPI_LIBS="$MPI_LIBS $tah_word"])
              done])
       tah_save_cppflags=$CPPFLAGS; CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS"
       AC_CHECK_HEADER([mpi.h], [], [AC_MSG_ERROR([$MPICC does not give a usable mpi.h])])
       tah_mpi_name=unknown
       AC_EGREP_CPP([tah_is_mpich], [
#include <mpi.h>
#ifdef MPICH_VERSION
tah_is_mpich
#endif], [tah_mpi_name=mpich])
       AC_EGREP_CPP([tah_is_openmpi], [
#include <mpi.h>
#ifdef OPEN_MPI
tah_is_openmpi
#endif], [tah_mpi_name=openmpi])
       CPPFLAGS=$tah_save_cppflags
       AS_IF([test $tah_mpi_name != $with_mpi],
             [AC_MSG_ERROR([$MPICC is the wrapper of $tah_mpi_name, not of $with_mpi: install that (Debian package lib$with_mpi-dev), or set MPICC or --with-mpi])])
       # The soname under which a program has the MPI library in memory.
       AC_MSG_CHECKING([for the soname of the MPI library])
       tah_save_libs=$LIBS; LIBS="$LIBS $MPI_LIBS"
       AC_LINK_IFELSE([AC_LANG_PROGRAM([[int MPI_Init(int *, char ***);]], [[return MPI_Init(0, 0);]])],
           [MPI_SONAME=`ldd ./conftest$EXEEXT | $AWK '$[1] ~ /^libmpi(ch)?\.so/ {print $[1]; exit}'`])
       LIBS=$tah_save_libs
       AS_IF([test -z "$MPI_SONAME"], [AC_MSG_ERROR([a program linked with $MPICC does not load libmpi or libmpich])])
       AC_MSG_RESULT([$MPI_SONAME])
       AC_DEFINE_UNQUOTED([TAH_MPI_SONAME], ["$MPI_SONAME"], [soname of the MPI library])
       AC_DEFINE_UNQUOTED([TAH_MPI_NAME], ["$tah_mpi_name"], [MPI implementation the library is built for])])
AS_IF([test -z "$MPIEXEC"],
      [AS_IF([test $with_mpi = mpich], [TAH_MISSING([mpiexec], [mpich])], [TAH_MISSING([mpiexec], [openmpi-bin])])])
AC_SUBST([MPI_CPPFLAGS])
AC_SUBST([MPI_LIBS])
AC_SUBST([MPI_SONAME])
AC_SUBST([TAH_MPI_NAME], [$tah_mpi_name])
AM_CONDITIONAL([WITH_MPICH], [test "$with_mpi" = mpich])
])
