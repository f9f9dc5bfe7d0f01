#!/usr/bin/env bash
# Runs every fuzz target of the module for FUZZTIME (a minute), one after the other,
# with FUZZWORKERS workers, and ends with a count. A finding is kept by go below
# testdata/fuzz. That the time ends while an input runs is no finding, although go test
# then fails with "context deadline exceeded".
set -uo pipefail
cd "$(dirname "$0")/.."
time=${FUZZTIME:-60s}
workers=${FUZZWORKERS:-2}
failed=() count=0
while IFS=: read -r file _ line; do
	name=${line#func } name=${name%%(*}
	count=$((count + 1))
	echo "=== $name of ./$(dirname "$file"), $time"
	out=$(go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 20x -parallel "$workers" "./$(dirname "$file")" 2>&1)
	code=$?
	tail -n 2 <<<"$out"
	if [ $code != 0 ] && { [[ $out == *"Failing input"* ]] || [[ $out != *"context deadline exceeded"* ]]; }; then
		echo "$out"
		failed+=("$name")
	fi
done < <(grep -rn --include='*_test.go' '^func Fuzz' internal pkg test | sort)
if [ ${#failed[@]} -gt 0 ]; then
	echo "$count targets; found something: ${failed[*]}"
	exit 1
fi
echo "$count targets, nothing found"
