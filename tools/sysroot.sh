#!/bin/sh
# sysroot.sh <architecture> <folder> <package>...: Debian packages of another architecture, with all they depend on, unpacked into a
# folder, for cross compilers and emulators. Needs apt-get and a network, no rights: the machine's own packages and lists stay as they
# are. A folder that is complete is left alone.
set -eu

architecture=$1 folder=$2
shift 2
[ ! -e "$folder/complete" ] || exit 0
command -v apt-get >/dev/null 2>&1 || {
    echo "sysroot.sh: no apt-get here: unpack Debian's $* for $architecture into $folder, then: touch $folder/complete" >&2
    exit 1
}
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
folder=$(cd "$folder" && pwd)
: >"$folder/apt/status"

apt() {
    apt-get -qq -y -o Dir::State="$folder/apt" -o Dir::State::status="$folder/apt/status" -o Dir::Cache="$folder/apt" \
        -o APT::Architecture="$architecture" -o APT::Architectures::="$architecture" \
        -o APT::Sandbox::User= -o APT::Install-Recommends=false -o Debug::NoLocking=true "$@"
}
echo "sysroot.sh: unpacking $* for $architecture into $folder" >&2
apt update >&2
apt install --download-only "$@" >&2
for package in "$folder"/apt/archives/*.deb; do dpkg-deb -x "$package" "$folder"; done
rm -rf "$folder/apt"
touch "$folder/complete"
