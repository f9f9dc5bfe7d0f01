# The multipath daemon with one of a few configurations.

claiming='defaults {
    user_friendly_names yes
    find_multipaths off
}'
careful='defaults {
    user_friendly_names yes
    find_multipaths on
}'
excluding='defaults {
    user_friendly_names yes
    find_multipaths off
}
blacklist {
    device {
        vendor "IET"
        product "VIRTUAL-DISK"
    }
}'

# multipathd_up CONFIGURATION [WWID...]: start, with nothing remembered but these.
multipathd_up() {
	modprobe -a dm_multipath dm_service_time
	rm -rf /etc/multipath
	mkdir -p /etc/multipath
	printf '%s\n' "$1" >/etc/multipath.conf
	shift
	for wwid in "$@"; do echo "/$wwid/" >>/etc/multipath/wwids; done
	multipathd
	wait_for multipathd show daemon
}

multipathd_down() {
	multipathd shutdown >/dev/null 2>&1
	wait_for ended multipathd
}

multipath_away() {
	pgrep -x multipathd >/dev/null && multipathd_down
	multipath -F >/dev/null 2>&1
	rm -rf /etc/multipath /etc/multipath.conf
}

# taken: the disk has a holder.
taken() { [ -n "$(ls "/sys/block/$disk/holders")" ]; }
