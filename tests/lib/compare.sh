# Runs an MPI program plain and with the library, and compares everything that can be observed.
#
#   compare PROGRAM "RANKS ..." FRAMES [ARGUMENT ...]
#
# FRAMES says where the library must have sent frames, so that a library that does nothing fails:
#   both (under lossless.ini and tah.ini), lossless (under that alone), raw (nowhere), any (not
#   looked at).
# One case for each number of ranks and each of: plain, none (library, no policy), lossless, tah.
. "$TAH_SOURCE/tests/lib/tap.sh"
. "$TAH_SOURCE/tests/lib/launch.sh"
. "$TAH_SOURCE/tests/lib/report.sh"

compare_policies="none lossless tah"
compare_programs=$TAH_BUILD/tests/shim # where the programs are
compare_preload=$TAH_LIB               # the library, and what else is preloaded with it

# Exit code, standard error and output, notes of all ranks in the order of their names: what says most
# of a failure comes first.
compare_collect() {
    echo "exit code $(cat "$1/code")"
    mpi_stderr_stable "$1/stderr" | sed 's/^/stderr: /'
    sed 's/^/stdout: /' "$1/stdout"
    for compare_note in "$1"/out/*; do
        [ -e "$compare_note" ] && sed "s|^|$(basename "$compare_note"): |" "$compare_note"
    done
}

# compare_run FOLDER RANKS POLICY PROGRAM [ARGUMENT ...]
compare_run() {
    compare_folder=$1 compare_n=$2 compare_with=$3
    shift 3
    mkdir -p "$compare_folder/out"
    set -- -- "$@"
    case $compare_with in
    plain) ;;
    none) set -- "LD_PRELOAD=$compare_preload" "$@" ;;
    *) set -- "LD_PRELOAD=$compare_preload" \
        "TAHMPI_POLICY=$TAH_SOURCE/tests/shim/policies/$compare_with.ini" "$@" ;;
    esac
    [ "$compare_with" = plain ] || set -- "TAHMPI_REPORT=$compare_folder/report.json" "$@"
    mpi_run "$compare_n" "MT_OUT=$compare_folder/out" "$@" \
        >"$compare_folder/stdout" 2>"$compare_folder/stderr"
    echo $? >"$compare_folder/code"
    compare_collect "$compare_folder" >"$compare_folder/all"
}

# Values that came through the lossy codec: near enough (see mt_check) reads as exact. The bounds
# are far above what 3 bits a value can do and far below what another message's data would give.
compare_tolerant() {
    awk '$2 == "data" && $(NF-2) == "off" && $(NF-1) <= 0.3 && $NF <= 0.5 {
             NF -= 3; print $0, "exact"; next }
         { print }' "$1"
}

# compare_frames FOLDER POLICY FRAMES: whether the library did what the policy says.
compare_frames() {
    compare_sent=$(report_frames "$1/report.json")
    case $2-$3 in
    none-* | *-raw)
        [ "${compare_sent:-0}" -eq 0 ] && return
        echo "the report counts $compare_sent frames where none may be" >"$1/diff" ;;
    *-both | lossless-lossless)
        [ "${compare_sent:-0}" -gt 0 ] && return
        echo "the report counts no frame sent" >"$1/diff" ;;
    *) return ;;
    esac
    return 1
}

# compare_same FOLDER PLAIN-FOLDER POLICY: whether the two runs look alike.
compare_same() {
    if [ "$3" = tah ]; then
        compare_tolerant "$1/all" >"$1/tolerant"
    else
        cp "$1/all" "$1/tolerant"
    fi
    diff "$2/all" "$1/tolerant" >"$1/diff"
}

# A plain run that fails or is not exact is a mistake in the program.
compare_plain() {
    grep -n ' BAD \| WRONG \|data .* off ' "$1/all" >"$1/diff" && return 1
    [ "$(cat "$1/code")" -eq "${compare_code:-0}" ] && return
    head -n 20 "$1/all" >"$1/diff"
    return 1
}

compare_one() {
    compare_title="$1${5:+ $5}, $2 ranks, $3"
    compare_base=$tap_work/$1${5:+-$5}.$2
    if [ "$3" != plain ] && ! tap_have_library; then
        tap_skip "$compare_title" "no library at $TAH_LIB"
        return
    fi
    compare_wants=$4 compare_name=$1 compare_ranks=$2 compare_policy=$3
    shift 4
    compare_run "$compare_base.$compare_policy" "$compare_ranks" "$compare_policy" \
        "$compare_programs/$compare_name" "$@"
    if [ "$compare_policy" = plain ]; then
        compare_plain "$compare_base.plain"
    else
        compare_same "$compare_base.$compare_policy" "$compare_base.plain" "$compare_policy" &&
            compare_frames "$compare_base.$compare_policy" "$compare_policy" "$compare_wants"
    fi && tap_ok "$compare_title" ||
        tap_not_ok "$compare_title" "$compare_base.$compare_policy/diff"
}

compare() {
    compare_program=$1 compare_numbers=$2 compare_expect=$3
    shift 3
    for compare_number in $compare_numbers; do
        for compare_case in plain $compare_policies; do
            compare_one "$compare_program" "$compare_number" "$compare_case" "$compare_expect" "$@"
        done
    done
}
