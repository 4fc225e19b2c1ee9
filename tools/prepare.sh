# shellcheck shell=bash
# What examples/quickstart.sh and tests/run.sh do first; both source this file.
#
#   prepare_packages MPI [PACKAGE...]   installs what is missing of the Debian packages that tahmpi
#                          needs and of those named, if it may; else says how
#   prepare_build MPI [SANITIZER]   builds for that MPI (mpich or openmpi) in build/MPI of the source
#                          tree; with a sanitizer (address, with undefined, or thread), in
#                          build/MPI-SANITIZER
#
# Both end the script with one clear message when they fail. prepare_build sets build (the folder).

prepare_source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What tahmpi is built, tested and tried with, and the MPIs.
prepare_tools="build-essential autoconf automake libtool pkg-config python3 iproute2 util-linux"
prepare_libraries="libhwloc-dev libinih-dev libzstd-dev libxxhash-dev libcjson-dev uthash-dev
    libopenblas-dev check"
declare -A prepare_mpi=([mpich]="mpich libmpich-dev" [openmpi]="openmpi-bin libopenmpi-dev")

prepare_fail() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit 1
}

# prepare_step TEXT LOG COMMAND...: runs COMMAND with its output in LOG; shows the end of it if it fails.
prepare_step() {
    local text=$1 log=$2 start=$SECONDS
    shift 2
    printf '%s ... ' "$text"
    if "$@" >"$log" 2>&1 </dev/null; then
        printf 'done (%d s)\n' $((SECONDS - start))
    else
        printf 'failed\n'
        tail -n 30 "$log" >&2
        prepare_fail "$text failed; all it said is in $log"
    fi
}

prepare_apt() {
    # The lists of packages may be missing or stale: then fetch them, and try again.
    apt-get install -y --no-install-recommends "$@" ||
        { apt-get update && apt-get install -y --no-install-recommends "$@"; }
}

prepare_packages() {
    local package missing=()
    if ! command -v dpkg-query >/dev/null; then
        echo "not a Debian system: configure will say which library is missing, if any"
        return
    fi
    for package in $prepare_tools $prepare_libraries ${prepare_mpi[$1]} "${@:2}"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
            missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ]; then
        prepare_fail "packages are missing; install them as root, then start again:
apt-get install --no-install-recommends ${missing[*]}"
    fi
    mkdir -p "$prepare_source/build"
    DEBIAN_FRONTEND=noninteractive prepare_step "installing ${missing[*]}" \
        "$prepare_source/build/packages.log" prepare_apt "${missing[@]}"
}

prepare_configure() {
    local options=(--with-mpi="$1")
    case ${2-} in
    address) options+=('--enable-sanitizer=address,undefined' CFLAGS='-O1 -g') ;;
    thread) options+=(--enable-sanitizer=thread CFLAGS='-O1 -g') ;;
    esac
    # In a shell of its own: paths given to the script are relative to where it was started.
    (cd "$build" && "$prepare_source/configure" "${options[@]}")
}

prepare_build() {
    local name=$1${2:+-$2}
    build=$prepare_source/build/$name
    mkdir -p "$build"
    [ -x "$prepare_source/configure" ] ||
        prepare_step "making configure" "$prepare_source/build/autogen.log" "$prepare_source/autogen.sh"
    [ -e "$build/Makefile" ] ||
        prepare_step "configuring for $name" "$build/configure.log" prepare_configure "$@"
    prepare_step "building for $name" "$build/make.log" make -C "$build" -j "$(nproc)"
}
