# Volumes of other drivers: a filesystem in user space, SMB, LVM on the node's own
# disk, a LUN of an array.

card=10.42.0.16 # where servers listen
ip addr add $card/24 dev pods

# The process behind a FUSE filesystem dies.
modprobe fuse
[ -e /dev/fuse ] || mknod /dev/fuse c 10 229
driver=ru.yandex.s3.csi
scenario fuse-daemon-killed
mkdir -p /export/bucket
in_group "$(pod_group $plugin_uid 2)" bindfs -f -o allow_other /export/bucket "$stage" &
wait_for mountpoint -q "$stage"
publish_mount && pod_up
echo data >"$publish/file"
kill -9 $(pgrep -x bindfs)
wait_for ended bindfs
ls "$publish" 2>"$out/refused"
examine
end $pid_app
umount -l "$publish"
umount -l "$stage"

# SMB: a password that the server does not accept, a share that it does not have.
modprobe cifs
mkdir -p /export/share /run/samba /var/lib/samba/private /var/cache/samba /var/log/samba
cat >/etc/samba/smb.conf <<-END
	[global]
	interfaces = $card
	bind interfaces only = yes
	disable netbios = yes
	smb ports = 445
	[files]
	path = /export/share
	read only = no
END
useradd -M app 2>/dev/null
printf 'right\nright\n' | smbpasswd -s -a app >/dev/null
in_group "$(pod_group $exporter_uid 4)" smbd -F --no-process-group &
wait_for bash -c "exec 3<>/dev/tcp/$card/445"

smb_mount() { mount -t cifs -o "username=app,password=$2,vers=3.0,dir_mode=0777,file_mode=0777" "//$card/$1" "$stage" >"$out/refused" 2>&1; }

driver=smb.csi.k8s.io
scenario smb-mounted
fact server $card
fact source "//$card/files"
smb_mount files right && publish_mount && pod_up
examine
end $pid_app
unmount

scenario smb-wrong-password
fact server $card
fact source "//$card/files"
smb_mount files wrong
examine
sleep 3 # a pause between two attempts

scenario smb-no-such-share
fact server $card
fact source "//$card/archive"
smb_mount archive right
examine

# A disk of the node whose volume group is not to be activated by itself: it is cut
# off and found again, as at a boot.
driver=local.csi.openebs.io
scenario lvm-inactive-after-boot
sed -i 's/^\(\t# \)\?\tauto_activation_volume_list = .*//; s/^activation {/activation {\n\tauto_activation_volume_list = [ "system" ]/' /etc/lvm/lvm.conf
vgcreate -q lvmvg /dev/vdb && lvcreate -q -y -n "$volume" -L 32M lvmvg
mkfs.ext4 -q "/dev/lvmvg/$volume"
vgchange -q -an lvmvg
slot=$(readlink -f /sys/block/vdb/device/..)
echo 1 >"$slot/remove"
disk=vdb wait_for disk_gone
echo 1 >/sys/bus/pci/rescan
wait_for test -b /dev/vdb
udevadm settle -t 10
mount -t ext4 -o defaults "/dev/lvmvg/$volume" "$publish" >"$out/refused" 2>&1
examine
cure                   # which only looks: whose group it is a person decides
vgchange -q -ay lvmvg # and does then
continue_as lvm-activated
mount -t ext4 -o defaults "/dev/lvmvg/$volume" "$publish" && pod_up
examine
end $pid_app
umount "$publish"
vgchange -q -an lvmvg

# An array gives a LUN's number to another volume, and the node keeps what it knew
# of the first.
modprobe -a target_core_mod target_core_file iscsi_target_mod
mount -t configfs configfs /sys/kernel/config 2>/dev/null
array=/sys/kernel/config/target
lio=iqn.2003-01.org.linux-iscsi.array

# volume_of_array NAME SERIAL
volume_of_array() {
	truncate -s 64M "/var/lib/$1"
	mkdir -p "$array/core/fileio_0/$1"
	echo "fd_dev_name=/var/lib/$1,fd_dev_size=67108864" >"$array/core/fileio_0/$1/control"
	echo "$2" >"$array/core/fileio_0/$1/wwn/vpd_unit_serial"
	echo 1 >"$array/core/fileio_0/$1/enable"
}

give_lun() { # NAME
	mkdir -p "$group/lun/lun_1"
	ln -s "$array/core/fileio_0/$1" "$group/lun/lun_1/given"
}

take_lun() {
	rm "$group/lun/lun_1/given"
	rmdir "$group/lun/lun_1"
}

lio_disk() {
	disk=$(ls -d /sys/class/iscsi_session/session*/device/target*/*:1/block/* 2>/dev/null | sed 's|.*/||')
	[ -n "$disk" ]
}

driver=csi.array.example
scenario lun-replaced
volume_of_array one 11111111-1111-4111-8111-111111111111
volume_of_array two 22222222-2222-4222-8222-222222222222
group=$array/iscsi/$lio/tpgt_1
mkdir -p "$group/np/$card:3270"
echo 0 >"$group/attrib/authentication"
echo 1 >"$group/attrib/generate_node_acls"
echo 1 >"$group/attrib/cache_dynamic_acls"
echo 0 >"$group/attrib/demo_mode_write_protect"
give_lun one
echo 1 >"$group/enable"
fact server "$card:3270"
fact target $lio
iscsiadm -m discovery -t sendtargets -p $card:3270 >/dev/null
iscsiadm -m node -T $lio -p $card:3270 --login >/dev/null
wait_for lio_disk
udevadm settle -t 10
session_host=$(readlink -f "/sys/block/$disk/device" | grep -o '/host[0-9]*/' | tr -d /)
mkfs.ext4 -q "/dev/$disk"
fact first "$(cat "/sys/block/$disk/device/wwid")"
take_lun
give_lun two
# What the driver of the next volume does: it finds a disk at that number.
mount -t ext4 -o defaults "/dev/$disk" "$stage" >"$out/refused" 2>&1 && umount "$stage"
echo "0 0 1" >"/sys/class/scsi_host/$session_host/scan" # as drivers do that look for one number
fact device "$(cat "/sys/block/$disk/dev")"
fact disk "$disk"
fact remembered "$(cat "/sys/block/$disk/device/wwid")"
examine

# What the kubelet does, too: open-iscsi looks anew at the disks that it knows.
continue_as lun-looked-at-anew
iscsiadm -m session -R >/dev/null
fact wwid "$(cat "/sys/block/$disk/device/wwid")"
mkfs.ext4 -q "/dev/$disk"
mount -t ext4 -o defaults "/dev/$disk" "$stage" && publish_mount && pod_up
examine
end $pid_app
unmount
iscsiadm -m node -T $lio --logout >/dev/null
grep '^wwid=' "$out/facts" >>"/lab/out/lun-replaced/facts" # the identity of the second volume
