#!/bin/bash
# Installs what is missing (when it may), builds, and passes the tests. The last line counts them.
set -euo pipefail
build='' # set by prepare_build
# shellcheck source=tools/prepare.sh
. "$(dirname "$0")/../tools/prepare.sh"

usage() {
    cat <<'END'
Usage: tests/run.sh [--mpi MPI[:SANITIZER]]...

Builds tahmpi for the MPI (mpich, the default, or openmpi) in build/MPI and runs `make check` there;
with several --mpi, one after the other. With a sanitizer (address, with undefined, or thread), in
build/MPI-SANITIZER, and only the tests that it can find something in. Missing Debian packages are
installed when started as root. The last line is
"N passed, N failed, N skipped"; status 0 if none failed.

Example: tests/run.sh --mpi mpich --mpi mpich:thread
END
}

mpis=()
while [ $# -gt 0 ]; do
    case $1 in
    --mpi)
        case ${2-} in
        mpich | openmpi | mpich:address | openmpi:address | mpich:thread | openmpi:thread)
            mpis+=("$2") ;;
        *) prepare_fail "--mpi '${2-}': must be mpich or openmpi, alone or with :address or :thread" ;;
        esac
        shift 2
        ;;
    --help | -h) usage; exit 0 ;;
    *) prepare_fail "unknown option $1 (see tests/run.sh --help)" ;;
    esac
done
[ ${#mpis[@]} -gt 0 ] || mpis=(mpich)

passed=0 failed=0 skipped=0

# What some tests need, and skip without.
optional=(gfortran gnuplot-nox libzfp-dev mandoc python3-mpi4py python3-numpy)

# What has not been counted when this script ends early did not pass.
finish() {
    local status=$?
    [ $status -eq 0 ] || [ $failed -gt 0 ] || failed=1
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ] || exit 1
}

# count NAME: the cases of that result in the summary of `make check`.
count() {
    awk -v name="# $1:" 'index($0, name) == 1 { sum += $NF } END { print sum + 0 }' "$build/check.log"
}

# Shows what is worth seeing of `make check` as it runs: all but what passes.
run_tests() {
    local target=check status=0 unsuccessful
    [ -z "${2-}" ] || target=check-sanitized
    echo "testing with $1${2:+, $2 sanitizer} ..."
    make -C "$build" $target </dev/null 2>&1 | tee "$build/check.log" |
        grep --line-buffered -E '^(FAIL|XPASS|ERROR|SKIP): ' || status=${PIPESTATUS[0]}
    unsuccessful=$(($(count FAIL) + $(count XPASS) + $(count ERROR)))
    passed=$((passed + $(count PASS) + $(count XFAIL)))
    skipped=$((skipped + $(count SKIP)))
    failed=$((failed + unsuccessful))
    if [ $unsuccessful -gt 0 ]; then
        grep -h -A 20 '^not ok' "$build"/test-suite.log | head -n 200 || :
        echo "all of it: $build/test-suite.log"
    elif [ "$status" -ne 0 ] || [ "$(count TOTAL)" -eq 0 ]; then
        tail -n 30 "$build/check.log"
        failed=$((failed + 1))
    fi
}

trap finish EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
for run in "${mpis[@]}"; do
    IFS=: read -r mpi sanitizer <<<"$run"
    prepare_packages "$mpi" "${optional[@]}"
    prepare_build "$mpi" "$sanitizer"
    run_tests "$mpi" "$sanitizer"
done
