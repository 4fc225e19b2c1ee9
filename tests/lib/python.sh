# python_find: sets python to one that has numpy and an mpi4py for this MPI; 1 if there is none.
python_find() {
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import numpy; from mpi4py import MPI
assert ("Open MPI" in MPI.Get_library_version()) == ("'"$TAH_MPI"'" == "openmpi")' \
            >/dev/null 2>&1 && return
    done
    return 1
}
