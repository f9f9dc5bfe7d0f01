# A shared volume over NFS: it works, the server falls silent, answers again, and forgets
# the file system.

server=10.42.0.16
ip addr add $server/24 dev pods
mkdir -p /export/vol /export/other /var/lib/nfs/{rpc_pipefs,v4recovery,nfsdcld} /run/rpcbind
printf '[nfsd]\nvers3=n\nvers4=y\nthreads=2\ngrace-time=10\nlease-time=10\n' >/etc/nfs.conf
modprobe -a nfsd nfs nfsv4 nf_tables
mount -t nfsd nfsd /proc/fs/nfsd
mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs
echo 10 >/proc/fs/nfsd/nfsv4gracetime
echo 10 >/proc/fs/nfsd/nfsv4leasetime
export_as() {
	echo "/export *(rw,fsid=0,no_root_squash,no_subtree_check,insecure,crossmnt)" >/etc/exports
	echo "/export/vol *(rw,fsid=$1,no_root_squash,no_subtree_check,insecure)" >>/etc/exports
	exportfs -ra
	exportfs -f
}
truncate -s 32M /var/lib/exported
mkfs.ext4 -q /var/lib/exported
mount -o loop /var/lib/exported /export/vol
nfsdcld
export_as 1
rpc.mountd -N 2 -N 3
rpc.nfsd -N 3 -V 4 -V 4.1 -V 4.2 2

# The server's own file system lies on /proc in the table of every namespace.
scenario nfs-mounted
fact server $server
mount -t nfs -o "vers=4.1,noresvport,softerr,timeo=600,retrans=5" "$server:/vol" "$stage" && publish_mount && pod_up
echo data >"$publish/file"
sync
examine

continue_as nfs-silent
nft add table inet silence
nft add chain inet silence out '{ type filter hook output priority 0; }'
nft add rule inet silence out tcp dport 2049 drop
nft add rule inet silence out tcp sport 2049 drop
(in_group "$(pod_group "$pod_uid" 3)" dd if=/dev/zero of="$publish/file" bs=4k count=1 conv=fsync) &
sleep 5
examine
nft flush chain inet silence out
wait_for timeout 5 ls "$publish"

continue_as nfs-stale-handle
exportfs -ua
export_as 11
sleep 8
timeout 10 ls "$publish" 2>"$out/refused" >/dev/null
examine
