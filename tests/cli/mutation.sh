# Every faulty variant swapped for its healthy twin must turn the run red:
# otherwise its expectations would hold of anything.
export FAULTLAG_TWIN=1
scenarios=$(faultlag list --json | python3 -c '
import json, sys
print(*(s["name"] for s in json.load(sys.stdin)["scenarios"]))')
for name in $scenarios; do
  faultlag run "$name" --device sim --strategy async,sync --schedule eager \
    --trials 1 --quiet --csv "$name.csv" >/dev/null 2>&1 && code=0 || code=$?
  [ $code = 1 ] || { echo "$name: exit $code"; continue; }
  # Red because it is clean, and for no other reason; in every cell.
  python3 "$tests/table.py" "$name.csv" as_expected outcome |
    grep -v '^no clean$' | sed "s/^/$name: /" || true
done
