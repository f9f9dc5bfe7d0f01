#!/bin/bash
# Run the tests in a fresh cluster on this machine, or the given command (bash
# for a look around). Needs root, cgroup v1 hierarchies, overlay and loop
# devices; says so and skips where it cannot run, or fails when CI is set.
set -euo pipefail
cd "$(dirname "$0")"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/mountdoctor-e2e
go=${GO:-go}

cannot() {
	echo "SKIP: the end-to-end tests did NOT run: $*" >&2
	[ -z "${CI:-}" ] || exit 1
	exit 0
}
[ "$(uname -sm)" = "Linux x86_64" ] || cannot "they need Linux on x86_64"
[ "$(id -u)" = 0 ] || cannot "they need root, for namespaces, mounts and loop devices"
[ -d /sys/fs/cgroup/cpuset ] || cannot "they need the control groups of cgroup v1, each mounted below /sys/fs/cgroup"
[ -c /dev/loop-control ] || cannot "they need loop devices"
grep -qw overlay /proc/filesystems || modprobe overlay 2>/dev/null || cannot "they need the overlay file system"

missing=()
for package in containerd runc containernetworking-plugins busybox-static iptables iproute2 e2fsprogs util-linux zstd; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
	command -v apt-get >/dev/null || cannot "they need ${missing[*]}, and apt-get to install them"
	echo "installing ${missing[*]}" >&2
	apt-get update -qq >&2
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

mkdir -p "$cache"
bin=$(./build.sh)
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
for name in lab driver pause; do
	CGO_ENABLED=0 $go build -trimpath -ldflags '-s -w' -o "$programs/$name" "./$name"
done
CGO_ENABLED=0 $go test -c -o "$programs/e2e.test" .
make -s -C ../.. agents build BIN="$programs" >&2

export MOUNTDOCTOR_LAB_CACHE=$cache MOUNTDOCTOR_LAB_BIN=$bin MOUNTDOCTOR_LAB_PROGRAMS=$programs
if [ $# -eq 0 ]; then
	set -- "e2e.test" -test.v -test.timeout 40m
fi
"$programs/lab" run "$@"
