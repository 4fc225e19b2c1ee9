#!/bin/sh
# What the library costs calls that no rule covers: medians of paired runs, plain and preloaded in
# turn, two ranks over shared memory, single-threaded and under MPI_THREAD_MULTIPLE.
# usage: calls.sh BUILD-FOLDER [PAIRS]      (an idle machine, please)
set -eu
build=${1:?usage: calls.sh BUILD-FOLDER [PAIRS]} pairs=${2:-15}
lib=$build/.libs/libtahmpi.so program=$build/tests/bench/calls
mpiexec=${MPIEXEC:-mpiexec.mpich}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/policy.ini" <<'POLICY'
[tahmpi]
scope = all
[rule large]
min-bytes = 64 KiB
codec = tah
POLICY
for level in single multiple; do
    for pair in $(seq "$pairs"); do
        "$mpiexec" -bind-to core -n 2 "$program" $level | sed "s/^/$level plain $pair /"
        "$mpiexec" -bind-to core -n 2 -genv LD_PRELOAD "$lib" \
            -genv TAHMPI_POLICY "$folder/policy.ini" "$program" $level |
            sed "s/^/$level tahmpi $pair /"
    done
done >"$folder/runs"
python3 - "$folder/runs" <<'PYTHON'
import statistics, sys
runs = {}
for line in open(sys.argv[1]):
    level, kind, pair, name, value = line.split()
    runs.setdefault((level, name), {}).setdefault(pair, {})[kind] = float(value)
print(f"{'threads':9} {'operation':13} {'plain ns':>9} {'more ns':>9} {'more %':>7}")
for (level, name), pairs in runs.items():
    plain = statistics.median(p["plain"] for p in pairs.values())
    more = statistics.median(p["tahmpi"] - p["plain"] for p in pairs.values())
    print(f"{level:9} {name:13} {plain:9.1f} {more:9.1f} {100 * more / plain:7.1f}")
PYTHON
