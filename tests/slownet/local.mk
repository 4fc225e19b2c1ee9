# slownet: its options and refusals anywhere; hosts and links where network namespaces are allowed.
slownet_scripts = %D%/refuse.tap %D%/hosts.tap %D%/end.tap
TESTS += $(slownet_scripts)
EXTRA_DIST += $(slownet_scripts) %D%/hosts.sh %D%/transfer.py

check_PROGRAMS += %D%/nodes
tests_slownet_nodes_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_slownet_nodes_LDADD = $(MPI_LIBS)
