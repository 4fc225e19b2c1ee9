#!/bin/sh
# What being preloaded costs a command that is no MPI program: medians of runs, plain and preloaded
# in turn.
# usage: start.sh BUILD-FOLDER [RUNS]      (an idle machine, please)
set -eu
build=${1:?usage: start.sh BUILD-FOLDER [RUNS]} runs=${2:-300}
exec python3 - "$build/.libs/libtahmpi.so" "$runs" "${MPIEXEC:-mpiexec.mpich}" <<'PYTHON'
import os, statistics, subprocess, sys, time
library, runs, mpiexec = sys.argv[1], int(sys.argv[2]), sys.argv[3]
os.stat(library)


def seconds(command, environment):
    start = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


preloaded = dict(os.environ, LD_PRELOAD=library)
print(f"{'command':20} {'plain ms':>9} {'more ms':>9}")
for command in (["ls"], ["bash", "-c", "true"], [mpiexec, "--version"]):
    pairs = [(seconds(command, os.environ), seconds(command, preloaded)) for _ in range(runs)]
    plain = statistics.median(p for p, _ in pairs)
    more = statistics.median(q - p for p, q in pairs)
    print(f"{' '.join(map(os.path.basename, command)):20} {1e3 * plain:9.3f} {1e3 * more:9.3f}")
PYTHON
