# Processes of a node: the kubelet, the instance manager with the iSCSI target,
# the CSI plugin. Each lies in the control group of its pod and, where pods have
# one, in a mount namespace of its own.

portal=10.42.0.15 # the instance manager's pod
manager_uid=2b7f0b9e-51c7-4d3a-8f5e-0a4f4f6f1c01
plugin_uid=5d0a1f1e-7f3c-4a58-9a1f-6be6b2c54f02
share_uid=7e1d2c3b-6a5f-4e4d-9c2b-1a0f9e8d7c06
exporter_uid=9c3b6f52-0c1d-4f5b-a1b6-2f3dce0a7d03
pod_digit=0
if [ "$machine" = second ]; then # pods of its own
	manager_uid=f${manager_uid#?} plugin_uid=f${plugin_uid#?} exporter_uid=f${exporter_uid#?} pod_digit=1
fi

node_up() {
	modprobe -a iscsi_tcp dm_mod dm_crypt loop dummy
	ip link add pods type dummy
	ip addr add $portal/24 dev pods
	ip link set pods up
	mkdir -p /dev/longhorn /var/lib/target /run/lock/iscsi /var/lib/kubelet/plugins
	for name in kubelet longhorn-manager node_exporter app; do cp /bin/sleep "/usr/bin/$name"; done
	mkdir -p /sys/fs/cgroup/system.slice/kubelet.service
	process kubelet /system.slice/kubelet.service "" kubelet infinity
	process plugin "$(pod_group $plugin_uid 2)" shared longhorn-manager infinity
	targets_up
	iscsid
	wait_for pgrep -x iscsid
}

# targets_up: the process that serves every volume of the node.
targets_up() {
	in_group "$(pod_group $manager_uid 1)" tgtd --iscsi portal=$portal:3260
	wait_for tgtadm --lld iscsi --op show --mode system
}

# pod_group UID DIGIT: the control group of a pod's container, made when missing.
pod_group() {
	local container=$(printf "$2%.0s" $(seq 64))
	local group=/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${1//-/_}.slice/cri-containerd-$container.scope
	mkdir -p "/sys/fs/cgroup$group"
	echo "$group"
}

in_group() {
	local group=$1
	shift
	(echo $BASHPID >"/sys/fs/cgroup$group/cgroup.procs" && exec "$@" >/dev/null 2>&1 </dev/null)
}

# process NAME GROUP PROPAGATION COMMAND...: start it in the background; its pid
# is in $pid_NAME. With a propagation it has a copy of the node's mounts.
process() {
	local name=$1 group=$2 propagation=$3
	shift 3
	local program=$1
	if [ -n "$propagation" ]; then set -- unshare --mount --propagation "$propagation" "$@"; fi
	in_group "$group" "$@" &
	eval "pid_$name=$!"
	wait_for started "$program"
}

# started PROGRAM: it runs, so it has its namespace and its control group.
started() { pgrep -x "${1:0:15}"; }

end() { kill -9 "$1" 2>/dev/null && wait "$1" 2>/dev/null; }

ended() { ! pgrep -x "$1"; }

# wait_for COMMAND...: until it succeeds, a minute at most.
wait_for() {
	local tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || { echo "VM: gave up waiting for: $*"; return 1; }
		sleep 0.1
	done
}
