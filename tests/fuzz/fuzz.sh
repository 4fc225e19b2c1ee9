#!/bin/sh
# Builds the fuzz targets with Clang, libFuzzer, AddressSanitizer and UBSan, and runs them.
set -eu
if [ $# -lt 2 ]; then
    echo "Usage: tests/fuzz/fuzz.sh BUILD EXECUTIONS [decode|roundtrip|policy]...

Builds in the folder BUILD, which stays, and runs each target (all three) for that many executions,
from the golden frames and the policies of the examples. What is learnt goes to BUILD/corpus.
Status 0: no finding; else the input that shows one is in BUILD.

Example: tests/fuzz/fuzz.sh build/fuzz 1000000 decode" >&2
    exit 2
fi
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
cd "$1"
runs=$2
shift 2
[ $# -gt 0 ] || set -- decode roundtrip policy

if [ ! -e Makefile ]; then
    "$source/configure" CC="${CC-clang}" \
        CFLAGS='-O2 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all'
fi
for target in "$@"; do
    make "tests/fuzz/$target" FUZZ_MAIN=-fsanitize=fuzzer
    mkdir -p "corpus/$target"
    case $target in
    policy) seeds=$source/examples/policies ;;
    decode) seeds="$source/tests/golden $source/tests/golden-bad" ;;
    *) seeds=$source/tests/golden ;;
    esac
    # shellcheck disable=SC2086 # two folders
    "tests/fuzz/$target" -runs="$runs" -max_len=8192 -rss_limit_mb=4096 -print_final_stats=1 \
        "corpus/$target" $seeds
done
