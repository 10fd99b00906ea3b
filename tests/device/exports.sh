#!/bin/sh
# exports.sh THEIRS OURS: fails when a symbol with its version that the first
# library exports is missing in the second.
set -eu
export LC_ALL=C
list() {
    nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' |
        sed 's/@@/@/' | sort -u
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
list "$1" > "$tmp/theirs"
list "$2" > "$tmp/ours"
missing=$(comm -23 "$tmp/theirs" "$tmp/ours")
echo "$(wc -l < "$tmp/theirs") exported by the toolkit's library," \
     "$(printf %s "$missing" | grep -c . || true) missing in ours"
if [ -n "$missing" ]; then
    echo "$missing"
    exit 1
fi
