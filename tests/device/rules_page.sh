#!/bin/sh
# rules_page.sh PROGRAM PAGE [--write]: the table in PAGE is what PROGRAM
# --markdown prints; --write makes it so.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$1" --markdown > "$tmp/table"
sed '/^| rule |/,$d' "$2" | cat - "$tmp/table" > "$tmp/page"
if [ "${3:-}" = --write ]; then
    cp "$tmp/page" "$2"
elif ! diff "$2" "$tmp/page" > "$tmp/diff"; then
    head -20 "$tmp/diff"
    echo "the page is old: run $0 $1 $2 --write"
    exit 1
fi
