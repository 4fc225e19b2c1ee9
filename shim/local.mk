EXTRA_DIST += %D%/mpi_calls.def
