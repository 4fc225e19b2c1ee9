# shellcheck shell=sh
# For tests that need hosts: where they cannot be made, the whole script is skipped, with the reason.
. "$TAH_SOURCE/tests/lib/tap.sh"
slownet=$TAH_BUILD/tools/slownet
if ! reason=$(timeout -k 1 60 "$slownet" --hosts 1 --rate 1mbit --raw -- true 2>&1); then
    echo "1..0 # SKIP $(echo "$reason" | head -n 1)"
    exit 0
fi
