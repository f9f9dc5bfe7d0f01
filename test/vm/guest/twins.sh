# Two machines with one host name and a shared volume between them. The first also
# carries the share manager's pod, with the server that Longhorn's images carry,
# NFS-Ganesha, in a network of its own. Both run this script and wait for each
# other where it matters.

share=10.42.1.16 # the share manager's pod
hostname storage
modprobe virtio_net
udevadm settle -t 10
card=$(basename "$(dirname "$(ls -d /sys/class/net/*/device | head -n 1)")")
ip link set "$card" up
if [ "$machine" = first ]; then
	ip addr add 10.0.0.1/24 dev "$card"
	echo 1 >/proc/sys/net/ipv4/ip_forward
	ip netns add share
	ip link add veth-share type veth peer name eth0 netns share
	ip addr add 10.42.1.1/24 dev veth-share
	ip link set veth-share up
	ip -n share addr add $share/24 dev eth0
	ip -n share link set eth0 up
	ip -n share link set lo up
	ip -n share route add default via 10.42.1.1
else
	ip addr add 10.0.0.2/24 dev "$card"
	ip route add 10.42.1.0/24 via 10.0.0.1
fi
modprobe -a nfs nfsv4
mkdir -p /var/lib/nfs/rpc_pipefs
mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs

server_up() {
	mkdir -p /export/vol /var/lib/nfs/ganesha /run/ganesha
	cat >/etc/ganesha.conf <<-'END'
		NFS_CORE_PARAM { Protocols = 4; Enable_NLM = false; Enable_RQUOTA = false; }
		NFSv4 { Lease_Lifetime = 10; Grace_Period = 5; Only_Numeric_Owners = true; }
		LOG { COMPONENTS { CLIENTID = DEBUG; } } # version 5 says the same at INFO
		EXPORT {
			Export_Id = 1; Path = /export/vol; Pseudo = /vol; Protocols = 4; Transports = TCP;
			Access_Type = RW; Squash = None; SecType = sys; FSAL { Name = VFS; }
		}
	END
	in_group "$(pod_group $share_uid 6)" ip netns exec share ganesha.nfsd -F -f /etc/ganesha.conf -L /run/ganesha.log -p /run/ganesha.pid &
	wait_for grep -q 'NFS SERVER INITIALIZED' /run/ganesha.log
	sleep 6 # its grace period
}

# together WORD: both machines are here.
together() {
	mkdir -p /lab/meet
	touch "/lab/meet/$1.$machine"
	until [ -e "/lab/meet/$1.first" ] && [ -e "/lab/meet/$1.second" ]; do sleep 0.3; done
}

share_mount() {
	mount -t nfs -o "vers=4.1,noresvport,softerr,timeo=600,retrans=5" "$share:/vol" "$stage" && publish_mount && pod_up
}

share_unmount() {
	end $pid_app
	unmount
}

# use_it SECONDS: what an application does: keeps a file open and writes to it.
use_it() {
	(in_group "$(pod_group "$pod_uid" 3)" timeout "$1" bash -c "exec 7>>'$publish/log.$machine'; while :; do echo more >&7; sync '$publish/log.$machine'; sleep 1; done") &
	user=$!
}

keep_log() { [ "$machine" != first ] || cp /run/ganesha.log "$out/server.log"; }

# sessions: how often a client began one.
sessions() { [ "$machine" != first ] || fact sessions "$(grep -c 'CREATE_SESSION clientid=.*csa_sequence' /run/ganesha.log)"; }

[ "$machine" != first ] || server_up
together up

# One of them uses the share: equal names are only a risk.
scenario twins-one-mount
fact server $share
if [ "$machine" = first ]; then share_mount; else fact unused yes; fi
examine
keep_log
together looked

continue_as twins-collide
[ "$machine" = first ] || share_mount
together mounted
sessions
use_it 45
sleep 25
examine
keep_log
sessions
together collided
wait $user
share_unmount

# The cures that the report names, each before the first mount.
together unique-id
continue_as twins-unique-id
echo "id-of-$machine" >/sys/module/nfs/parameters/nfs4_unique_id
share_mount
together mounted-anew
sessions
use_it 15
wait $user
examine
keep_log
sessions
together cured
share_unmount
: >/sys/module/nfs/parameters/nfs4_unique_id

together own-name
continue_as twins-own-name
hostname "storage-$machine"
share_mount
together mounted-by-name
sessions
use_it 15
wait $user
examine
keep_log
sessions
together end
