#!/bin/sh
# check.sh PROGRAM [--output FILE] [--exit N] [--stderr PART]
# Runs a program and compares its standard output with FILE (default: empty),
# its exit status with N (default 0), and looks for PART on standard error.
set -u
program=$1
shift
want_status=0 want_output=/dev/null want_stderr=
while [ $# -gt 0 ]; do
    case $1 in
    --output) want_output=$2 ;;
    --exit) want_status=$2 ;;
    --stderr) want_stderr=$2 ;;
    esac
    shift 2
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$program" > "$tmp/out" 2> "$tmp/err"
status=$?
cat "$tmp/err"
failed=0
if [ "$status" != "$want_status" ]; then
    echo "exit status $status, expected $want_status"
    failed=1
fi
# A program that fails says why on standard output; then only the status counts.
if [ "$want_status" = 0 ] && ! diff "$want_output" "$tmp/out"; then failed=1; fi
if [ -n "$want_stderr" ] && ! grep -qF -- "$want_stderr" "$tmp/err"; then
    echo "standard error does not mention: $want_stderr"
    failed=1
fi
exit $failed
