#!/bin/sh
# mutate.sh BUILD [RULE]: breaks each rule of mutations.txt in a copy of one
# file, links that against the objects of BUILD, and demands that the rule's
# test fails. Exit 0 when every mutation was noticed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
only=${2:-}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cuda=$(sed -n 's/^CUDA_INCLUDE:.*=//p; s/^CUDA_HOME:.*=\(.*\)/\1\/include/p' \
       "$build/CMakeCache.txt" | head -1)
objects=$(find "$build/simgpu/CMakeFiles/simgpu.dir" \
               "$build/simgpu/CMakeFiles/simgpu_per_thread.dir" -name '*.o')
noticed=0 missed=0

# Puts `new` in place of `old` in one file; fails unless it is there once.
substitute() {
    python3 - "$@" <<'PY'
import sys
source, target, old, new = sys.argv[1:5]
text = open(source).read()
decode = lambda s: s.replace("\\n", "\n").replace("\\|", "|")
old, new = decode(old), decode(new)
if text.count(old) < 1:
    sys.exit(f"{source}: nothing reads: {old}")
open(target, "w").write(text.replace(old, new, 1))
PY
}

# The mutant comes before the archive of the core, whose member of the same
# name is then not wanted.
mutate() { # file old new rule
    substitute "$root/simgpu/$1" "$tmp/mutant.c" "$2" "$3"
    gcc -std=gnu11 -O1 -fPIC -w -I"$root/simgpu" -I"$root/simgpu/include" \
        -isystem "$cuda" -c "$tmp/mutant.c" -o "$tmp/mutant.o"
    rest=$(echo "$objects" | grep -v "/simgpu.dir/$1.o$")
    # shellcheck disable=SC2086
    gcc -shared -Wl,-soname,libcudart.so.13 \
        -Wl,--version-script="$root/simgpu/cudart/exports.map" \
        -o "$tmp/libcudart.so.13" "$tmp/mutant.o" $rest \
        "$build/simgpu/libsimgpu_core.a" -ldl -lzstd -llz4 -lm -lpthread
    status=0
    LD_LIBRARY_PATH="$tmp" timeout 100 "$build/bin/device-conformance" "$4" \
        > "$tmp/out" 2>&1 || status=$?
    if [ $status = 1 ]; then
        noticed=$((noticed + 1))
        echo "noticed: $4 ($1)"
    else
        missed=$((missed + 1))
        echo "NOT NOTICED: $4 ($1), status $status"
        cat "$tmp/out"
    fi
}

while IFS= read -r line; do
    case $line in '#'* | '') continue ;; esac
    # A bar inside a field is written \|.
    fields=$(printf '%s' "$line" | sed 's/\\|/\x01/g; s/ *| */\x02/g; s/\x01/\\|/g')
    file=$(printf '%s' "$fields" | cut -d "$(printf '\002')" -f 1)
    old=$(printf '%s' "$fields" | cut -d "$(printf '\002')" -f 2)
    new=$(printf '%s' "$fields" | cut -d "$(printf '\002')" -f 3)
    rule=$(printf '%s' "$fields" | cut -d "$(printf '\002')" -f 4)
    [ -n "$only" ] && [ "$only" != "$rule" ] && continue
    mutate "$file" "$old" "$new" "$rule"
done < "$here/mutations.txt"
echo "$noticed noticed, $missed not"
[ $missed = 0 ]
