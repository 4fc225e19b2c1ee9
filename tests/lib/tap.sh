# TAP for shell scripts: tap_ok NAME, tap_not_ok NAME [FILE with the reason], tap_skip NAME REASON,
# tap_is NAME GOT EXPECTED, tap_end. tap_work is a scratch folder that goes when the script ends.
tap_count=0
tap_work=$(mktemp -d "${TMPDIR:-/tmp}/tahmpi-test.XXXXXX") || exit 99
trap 'rm -rf "$tap_work"' EXIT
trap 'exit 99' HUP INT TERM

tap_ok() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
}

tap_not_ok() {
    tap_count=$((tap_count + 1))
    echo "not ok $tap_count - $1"
    [ -z "${2-}" ] || head -n 40 "$2" | cut -c 1-300 | sed 's/^/#   /'
}

tap_skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# One case: passes if the two texts are the same.
tap_is() {
    if [ "$2" = "$3" ]; then
        tap_ok "$1"
    else
        printf 'got:      %s\nexpected: %s\n' "$2" "$3" >"$tap_work/is"
        tap_not_ok "$1" "$tap_work/is"
    fi
}

tap_end() {
    echo "1..$tap_count"
}

# What every test of the library needs; without it there is nothing to test but the programs.
tap_have_library() {
    [ -e "$TAH_LIB" ]
}
