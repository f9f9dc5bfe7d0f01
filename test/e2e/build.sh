#!/bin/bash
# Build the lab's programs into a folder named by what they are built from, and
# print that folder. The first build takes about 250 s on two cores for Kubernetes
# and as much for the sidecars; with the same inputs it takes none.
#
# The sidecars are modules that the proxy serves by their exact versions; one that
# they need (sig-storage-lib-external-provisioner/v11) is not in the sum database,
# so its sum stands in sidecars/go.sum, equal to that in the go.sum of
# external-provisioner v5.3.0. To change versions:
#   GONOSUMDB=sigs.k8s.io/sig-storage-lib-external-provisioner/v11 go mod tidy
set -euo pipefail
cd "$(dirname "$0")"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/mountdoctor-e2e
go=${GO:-go}
version=$(sed -n 's/.*k8s.io\/kubernetes \(v[0-9.]*\)$/\1/p' go.mod | head -1)
minor=${version#v1.}
# Which line of go.mod is marked indirect changes nothing in the programs.
key() { { $go version; sed 's|//.*||; s/^\s*//; s/\s*$//' "$1" | sort; shift; cat "$@" </dev/null; } | sha256sum | cut -c1-16; }
bin=$cache/hyper-$version-$(key go.mod hyper/*.go)
side=$cache/sidecars-$(key sidecars/go.mod)
export CGO_ENABLED=0

if [ ! -x "$bin/hyper" ]; then
	echo "building Kubernetes $version and etcd (about 250 s the first time)" >&2
	mkdir -p "$bin"
	v=k8s.io/component-base/version
	nice -n 10 $go build -trimpath -o "$bin/hyper.new" -ldflags "-s -w \
		-X $v.gitVersion=$version -X $v.gitMajor=1 -X $v.gitMinor=${minor%%.*} \
		-X $v.gitTreeState=clean -X $v.gitCommit=lab -X $v.buildDate=2026-01-01T00:00:00Z" ./hyper >&2
	mv "$bin/hyper.new" "$bin/hyper"
fi
for name in etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl; do
	ln -sfn hyper "$bin/$name"
done

if [ ! -e "$side/built" ]; then
	echo "building the sidecars of the CSI project (about 250 s the first time)" >&2
	mkdir -p "$side"
	(cd sidecars && nice -n 10 $go build -trimpath -ldflags '-s -w' -o "$side/" tool >&2)
	touch "$side/built"
fi
ln -sfn "$side" "$bin/sidecars"
echo "$bin"
