#!/bin/bash
# Build what the virtual machine boots from and print the folder: a stock Debian
# kernel, an initramfs and a root file system with the real storage programs.
# The folder is named by what it is built from; the first build takes about a
# minute, with the same inputs none. Needs root (a chroot) and a Debian mirror.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/mountdoctor-vm
suite=${SUITE:-bookworm}
kernel=${KERNEL:-linux-image-amd64}
mirror=${MIRROR:-http://deb.debian.org/debian}

packages=$(grep -v '^#' "$here/packages.txt" | paste -sd,)
key=$({ echo "$suite $kernel $mirror"; cat "$here"/*; } | sha256sum | cut -c1-16)
dir=$cache/$suite-$key
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9 # somebody else may be building the same
if [ -e "$dir/complete" ]; then
	echo "$dir"
	exit
fi
work=$(mktemp -d "$cache/building.XXXXXX")
trap 'rm -rf "$work"' EXIT
echo "building the root file system of the virtual machine (about a minute)" >&2

# The kernel is unpacked and never installed: no boot loader of this machine runs.
image=$(apt-cache depends "$kernel" | awk '/Depends: linux-image-/ {print $2; exit}')
version=${image#linux-image-}

(cd "$work" && apt-get -o APT::Sandbox::User=root download -qq "$image" >&2 && dpkg -x "$image"_*.deb kernel && rm "$image"_*.deb)
[ -d "$work/kernel/lib/modules" ] || { mkdir -p "$work/kernel/lib"; mv "$work/kernel/usr/lib/modules" "$work/kernel/lib/"; }
depmod -b "$work/kernel" "$version"

# modules NAME...: the files that they and what they need are in, in load order.
modules() {
	for name in "$@"; do
		modprobe -d "$work/kernel" -S "$version" --show-depends "$name" 2>/dev/null | awk '$1 == "insmod" {print $2}'
	done | awk '!seen[$0]++'
}

# The initramfs knows how to reach the root file system and nothing else.
initial=$work/initial
mkdir -p "$initial"/{bin,proc,sys,dev,root,modules}
cp /bin/busybox "$initial/bin/"
install -m 0755 "$here/initial.sh" "$initial/init"
modules virtio_pci virtio_blk ext4 crc32c_generic | while read -r file; do
	name=$(basename "$file" .xz)
	if [ "${file%.xz}" = "$file" ]; then cp "$file" "$initial/modules/$name"; else xz -dc "$file" >"$initial/modules/$name"; fi
	echo "$name" >>"$initial/modules/order"
done
(cd "$initial" && find . | cpio -o -H newc --quiet) >"$work/initramfs"
cp "$work"/kernel/boot/vmlinuz-* "$work/vmlinuz"

root=$work/root
mmdebstrap --quiet --variant=minbase --aptopt='Apt::Install-Recommends "false"' \
	--include="$packages" "$suite" "$root" "deb $mirror $suite main" >&2
modules $(grep -v '^#' "$here/modules.txt") | while read -r file; do
	install -D -m 0644 "$file" "$root/lib/modules/$version/${file#*/lib/modules/"$version"/}"
done
cp "$work/kernel/lib/modules/$version"/modules.{builtin,builtin.modinfo,order} "$root/lib/modules/$version/"
depmod -b "$root" "$version"
install -m 0755 "$here/first.sh" "$root/sbin/first"
# rpc.mountd dies of a missing mtab, which the smallest Debian has not.
ln -sf /proc/self/mounts "$root/etc/mtab"
truncate -s 1536M "$work/root.ext4"
mke2fs -q -t ext4 -E lazy_itable_init=1 -d "$root" "$work/root.ext4"

rm -rf "$work/kernel" "$root" "$initial"
chmod 0755 "$work"
touch "$work/complete"
rm -rf "$dir"
mv "$work" "$dir"
trap - EXIT
echo "$dir"
