#!/bin/sh
# one.sh RANK "ENV-ARGUMENTS" PROGRAM [ARGUMENT ...]: the program, on that rank by way of env with
# these arguments: another value of a variable than on the other ranks.
rank=$1 difference=$2
shift 2
[ "${PMI_RANK-$OMPI_COMM_WORLD_RANK}" = "$rank" ] || exec "$@"
# shellcheck disable=SC2086 # several arguments
exec env $difference "$@"
