#!/bin/sh
# Builds the node agents of all architectures into pkg/launch/agents/bin, where
# the plugin embeds them. ARCHES limits the list; adding one is one word here.
set -eu
cd "$(dirname "$0")/.."
arches=${ARCHES:-"amd64 arm64 arm ppc64le s390x riscv64"}
version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo devel)}
out=pkg/launch/agents/bin
ldflags="-s -w -X github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent/cli.Version=$version"

# What runs seldom is compiled without inlining: 5 % smaller in the archive, and no
# slower in a measured run (all of it without inlining took half as long again).
seldom="encoding/... reflect time fmt net net/netip flag compress/... crypto/... regexp/syntax
	os os/signal context unicode vendor/... github.com/mountdoctor/..."
command -v zstd >/dev/null || { echo 'build-agents: no zstd here; Debian: apt-get install zstd' >&2; exit 1; }

small=
for packages in $seldom; do
	small="$small -gcflags=$packages=-l"
done

work=$(mktemp -d "$out/../.build.XXXXXX") # the same filesystem: what another build embeds meanwhile is whole
trap 'rm -rf "$work"' EXIT
for arch in $arches; do
	# Segments begin at a multiple of the largest page that an architecture has. Go takes 64 KiB
	# for s390x, whose pages have 4 (arch/s390/include/asm/page.h): 106 KB of nothing.
	align=
	[ "$arch" = s390x ] && align="-R 4096"
	# Without cgo the agent needs nothing of the image that it is started in:
	# many of them are Alpine, whose libc is not glibc.
	CGO_ENABLED=0 GOOS=linux GOARCH=$arch "${GO:-go}" build -trimpath -buildvcs=false $small \
		-ldflags "$ldflags $align" -o "$work/mountdoctor-agent-linux-$arch" ./cmd/mountdoctor-agent
done
(cd "$work" && sha256sum mountdoctor-agent-linux-* >SHA256SUMS)
# Together they are a quarter smaller than each in gzip, because they share their data;
# the plugin makes gzip of the one that a node needs.
(cd "$work" && tar --create --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mode=755 --mtime=@0 mountdoctor-agent-linux-*) |
	zstd -q --ultra -22 --long=25 >"$work/agents.tar.zst"
mv "$work/agents.tar.zst" "$work/SHA256SUMS" "$out"/
find "$out" -type f ! -name README.md ! -name agents.tar.zst ! -name SHA256SUMS -delete # all of it is embedded
ls -l "$out"
