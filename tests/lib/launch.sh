# Runs MPI programs: mpi_run RANKS [VARIABLE=VALUE ...] -- PROGRAM [ARGUMENT ...]
# The variables are set for the ranks only, never for the launcher. Seconds until a run counts as
# hung: mpi_timeout. The exit code is the launcher's; 124 after a time-out.
mpi_timeout=60

# Settings of whoever runs the tests must not reach the programs.
for mpi_variable in $(env | sed -n 's/^\(TAHMPI_[A-Z0-9_]*\)=.*/\1/p'); do
    unset "$mpi_variable"
done
unset LD_PRELOAD

# Open MPI's single-copy path writes past a receive buffer that is too short (4.1.4).
OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_btl_vader_single_copy_mechanism

mpi_run() {
    mpi_ranks=$1
    shift
    # Rotates the arguments once: variables become the launcher's options, in front.
    mpi_left=$#
    mpi_program=no
    set -- "$@" -n "$mpi_ranks"
    [ "$TAH_MPI" != openmpi ] || set -- "$@" --allow-run-as-root --oversubscribe
    while [ "$mpi_left" -gt 0 ]; do
        mpi_word=$1
        shift
        mpi_left=$((mpi_left - 1))
        if [ $mpi_program = yes ]; then
            set -- "$@" "$mpi_word"
        elif [ "$mpi_word" = -- ]; then
            mpi_program=yes
        elif [ "$TAH_MPI" = openmpi ]; then
            set -- "$@" -x "$mpi_word"
        else
            set -- "$@" -genv "${mpi_word%%=*}" "${mpi_word#*=}"
        fi
    done
    timeout -k 5 "$mpi_timeout" "$MPIEXEC" "$@" </dev/null
}

# What differs from one run to the next in the launcher's own words about a program that failed.
mpi_stderr_stable() {
    sed -e 's/\bPID [0-9]*/PID N/g' -e 's/pid [0-9]*/pid N/g' -e 's/0x[0-9a-f]*/0xN/g' "$1"
}
