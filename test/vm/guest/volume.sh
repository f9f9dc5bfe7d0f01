# One Longhorn volume from target to mount, in the steps of the real programs:
# the instance manager's target, iscsiadm, the node below /dev/longhorn, and
# mount-utils' SafeFormatAndMount.

targets=0
driver=driver.longhorn.io

# scenario NAME: names for the volume of this scenario. What the cluster half
# needs to know goes to out/NAME/facts.
scenario() {
	name=$1
	out=$results/$name
	mkdir -p "$out"
	echo "VM: $name at $(cut -d' ' -f1 /proc/uptime) s"
	id=$(printf %s "$name" | md5sum | sed 's/^\(.\{8\}\)\(.\{4\}\).\(.\{3\}\).\(.\{3\}\)\(.\{12\}\).*/\1-\2-4\3-8\4-\5/')
	volume=pvc-$id
	pod_uid=${id%-*}-0000000000$pod_digit$((targets % 10))
	stage=/var/lib/kubelet/plugins/kubernetes.io/csi/$driver/$(printf %s "$volume" | sha256sum | cut -c1-64)/globalmount
	publish=/var/lib/kubelet/pods/$pod_uid/volumes/kubernetes.io~csi/$volume/mount
	mkdir -p "$stage" "$publish"
	: >"$out/facts"
	fact driver "$driver"
	fact volume "$volume"
	fact pod_uid "$pod_uid"
}

# continue_as NAME: the next scenario, with the volume of the one before.
continue_as() {
	local before=$out/facts
	name=$1
	out=$results/$name
	mkdir -p "$out"
	echo "VM: $name at $(cut -d' ' -f1 /proc/uptime) s"
	grep -E '^(driver|volume|pod_uid|device|disk|server|target)=' "$before" >"$out/facts"
}

fact() { echo "$1=$2" >>"$out/facts"; }

target() { echo "iqn.2019-10.io.longhorn:$volume"; }

# engine_up [SIZE]: what go-iscsi-helper does: first free target, LUN 1, bind to all.
engine_up() {
	targets=$((targets + 1))
	tid=$targets
	[ -e "/var/lib/target/$volume" ] || truncate -s "${1:-64M}" "/var/lib/target/$volume"
	tgtadm --lld iscsi --op new --mode target --tid $tid -T "$(target)"
	tgtadm --lld iscsi --op new --mode logicalunit --tid $tid --lun 1 -b "/var/lib/target/$volume"
	tgtadm --lld iscsi --op bind --mode target --tid $tid -I ALL
}

# engine_down: the process of all targets dies at once.
engine_down() { kill -9 $(pgrep -x tgtd) && targets=0; }

# attach: login, and the node below /dev/longhorn with the disk's numbers.
attach() {
	iscsiadm -m discovery -t sendtargets -p $portal >/dev/null
	iscsiadm -m node -T "$(target)" -p $portal --login >/dev/null
	wait_for find_disk
	udevadm settle -t 10
	local number=$(cat "/sys/block/$disk/dev")
	device=/dev/longhorn/$volume
	rm -f "$device"
	mknod "$device" b "${number%:*}" "${number#*:}"
	chmod 0660 "$device"
	fact device "$number"
	fact disk "$disk"
}

find_disk() {
	local session
	for session in /sys/class/iscsi_session/session*; do
		[ "$(cat "$session/targetname" 2>/dev/null)" = "$(target)" ] || continue
		disk=$(ls -d "$session"/device/target*/*:1/block/* 2>/dev/null | sed 's|.*/||')
		[ -n "$disk" ] && return
	done
	return 1
}

detach() {
	iscsiadm -m node -T "$(target)" --logout >/dev/null
	rm -f "/dev/longhorn/$volume"
}

# stage_mount [FSTYPE]: format when blank, check, mount. The words of the program
# that refused are kept for the event that the kubelet would have sent.
stage_mount() {
	local type=${1:-ext4} code
	if ! blkid -p -s TYPE "$device" >/dev/null 2>&1; then
		format "$type" || return
	else
		fsck -a "$device" >/run/checked 2>&1
		code=$?
		if [ $((code & 4)) -ne 0 ]; then # as mount-utils words it
			echo "'fsck' found errors on device $device but could not correct them: $(cat /run/checked)." >"$out/refused"
			return 1
		fi
	fi
	mount -t "$type" -o defaults "$device" "$stage" >"$out/refused" 2>&1 && rm -f "$out/refused"
}

format() {
	local force=-f
	if [ "$1" = ext4 ]; then force="-F -m0"; fi
	"mkfs.$1" $force "$device" >"$out/refused" 2>&1
}

publish_mount() { mount --bind "$stage" "$publish"; }

# pod_up: the application, which sees its volume at /data and holds it.
pod_up() {
	in_group "$(pod_group "$pod_uid" 3)" unshare --mount --propagation slave app infinity &
	pid_app=$!
	wait_for started app
}

unmount() { umount "$publish" 2>/dev/null; umount "$stage"; }

session_is() { [ "$(cat /sys/class/iscsi_session/session*/state)" = "$1" ]; }
disk_gone() { [ ! -e "/sys/block/$disk" ]; }
disk_is() { [ "$(cat "/sys/block/$disk/device/state")" = "$1" ]; }
not_blocked() { ! disk_is blocked; }
