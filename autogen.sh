#!/bin/sh
# Makes ./configure from a clean clone. Needs autoconf, automake, libtool and pkg-config.
set -e
cd "$(dirname "$0")"
for tool in autoreconf automake libtoolize pkg-config; do
    command -v $tool >/dev/null || {
        echo "autogen.sh: $tool is missing (Debian: apt-get install autoconf automake libtool pkg-config)" >&2
        exit 1
    }
done
mkdir -p build-aux
exec autoreconf --install --force
