# Run the agent as the plugin does and keep what it said, how long it took, and
# whether it is still there afterwards. It is never waited for without a limit:
# a process whose thread is stuck in the kernel cannot be killed.

examine_limit=80

examine() {
	local started=$(date +%s%N) pid tries=0
	/lab/mountdoctor-agent -record - -deadline 60s >"$out/answer" 2>"$out/errors" &
	pid=$!
	while running $pid && [ $tries -lt $((examine_limit * 10)) ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	fact seconds "$(awk "BEGIN {print ($(date +%s%N) - $started) / 1e9}")"
	if running $pid; then
		fact left "$(stuck_threads $pid)"
		kill -9 $pid
	else
		wait $pid
		fact code $?
	fi
	grep -E "$volume" /proc/self/mountinfo >"$out/mounts"
	[ -n "$disk" ] && ls "/sys/block/$disk/holders" >"$out/holders" 2>/dev/null
	return 0
}

# running PID: any thread of it is there and not dead.
running() {
	local task
	for task in "/proc/$1"/task/*/stat; do
		case $(cat "$task" 2>/dev/null) in
		*") Z "* | *") X "* | "") ;;
		*) return 0 ;;
		esac
	done
	return 1
}

stuck_threads() {
	local task
	for task in /proc/$1/task/*; do
		echo -n "$(sed -n 's/^State:\t\(.\).*/\1/p' "$task/status"):$(cat "$task/wchan") "
	done
}
