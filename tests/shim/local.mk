# MPI programs that know nothing of the library, and the scripts that run them with and without it.
shim_scripts = %D%/modes.tap
TESTS += $(shim_scripts)
EXTRA_DIST += $(shim_scripts) %D%/policies/lossless.ini %D%/policies/tah.ini

check_PROGRAMS += %D%/modes
tests_shim_modes_CPPFLAGS = $(MT_CPPFLAGS)
tests_shim_modes_LDADD = $(MT_LIBS)
