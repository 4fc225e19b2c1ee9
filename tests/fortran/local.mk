# A Fortran program by each of MPI's three bindings. The script compiles it: Fortran is not needed to
# build anything else.
TESTS += %D%/fortran.tap
EXTRA_DIST += %D%/fortran.tap %D%/ring.F90 %D%/partner.c
