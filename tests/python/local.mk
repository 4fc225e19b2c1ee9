# An mpi4py program.
TESTS += %D%/python.tap
EXTRA_DIST += %D%/python.tap %D%/traffic.py
