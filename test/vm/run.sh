#!/bin/bash
# Boot the virtual machines and test the agent in them; arguments go to the test
# (-test.run=TestScenarios/nfs, -keep=FOLDER). Needs root and a Debian mirror;
# says so and skips where it cannot run, or fails when CI is set.
set -euo pipefail
cd "$(dirname "$0")"
go=${GO:-go}

cannot() {
	echo "SKIP: the virtual machine tests did NOT run: $*" >&2
	[ -z "${CI:-}" ] || exit 1
	exit 0
}
[ "$(uname -sm)" = "Linux x86_64" ] || cannot "they need Linux on x86_64"
[ "$(id -u)" = 0 ] || cannot "they need root, for a chroot with the guest's programs"

missing=()
for package in qemu-system-x86 mmdebstrap cpio busybox-static kmod e2fsprogs xz-utils zstd; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
	command -v apt-get >/dev/null || cannot "they need ${missing[*]}, and apt-get to install them"
	echo "installing ${missing[*]}" >&2
	apt-get update -qq >&2
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

image=$(image/build.sh)
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
(cd ../.. && CGO_ENABLED=0 GOARCH=amd64 $go build -trimpath -ldflags '-s -w' -o "$programs/agent" ./cmd/mountdoctor-agent)
$go test -c -o "$programs/vm.test" .
# Two machines at a time: more would only wait for the processors.
nice -n 10 timeout -k 10 1500 "$programs/vm.test" -test.v -test.parallel 2 -test.timeout 24m \
	-image "$image" -agent "$programs/agent" "$@"
