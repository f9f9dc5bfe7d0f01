# What the report says is done to the machine, word by word: the report is made outside,
# while the machine waits, from what the agent has just answered (steps.go).

cure() {
	local tries=0
	touch "$out/asked"
	until [ -e "$out/steps.sh" ]; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || { echo "VM: no steps for $name"; return 1; }
		sleep 0.2
	done
	sh -x "$out/steps.sh" >"$out/cured" 2>&1
	fact above "$(ls "/sys/block/$disk/holders" 2>/dev/null | tr '\n' ' ')"
}
