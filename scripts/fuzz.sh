#!/usr/bin/env bash
# Runs every fuzz target of the module for FUZZTIME (a minute), one after the other,
# with two workers, and ends with a count. A finding is kept by go below testdata/fuzz.
set -uo pipefail
cd "$(dirname "$0")/.."
time=${FUZZTIME:-60s}
workers=${FUZZWORKERS:-2}
failed=() count=0
while IFS=: read -r file _ line; do
	name=${line#func } name=${name%%(*}
	count=$((count + 1))
	echo "=== $name of ./$(dirname "$file"), $time"
	go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -parallel "$workers" "./$(dirname "$file")" | tail -n 3 ||
		failed+=("$name")
done < <(grep -rn --include='*_test.go' '^func Fuzz' internal pkg | sort)
if [ ${#failed[@]} -gt 0 ]; then
	echo "$count targets; found something: ${failed[*]}"
	exit 1
fi
echo "$count targets, nothing found"
