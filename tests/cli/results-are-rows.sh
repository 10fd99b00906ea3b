# A trial that crashes, leaves, is killed or hangs is a row, and the run goes
# on to the next.
faultlag run \
  selftest-crash,selftest-exit,selftest-kill,selftest-hang,bad-gather \
  --device sim --strategy async,sync --trials 2 --timeout 1 --csv trials.csv \
  --json trials.json --quiet >summary
python3 "$tests/table.py" trials.csv scenario outcome as_expected \
  exit_status reason launch_index |
  sed 's/\(selftest-hang\.c\):[0-9]*/\1:LINE/' | uniq -c | sed 's/^ *//'
python3 - <<'END'
import csv, json
a = list(csv.DictReader(open("trials.csv")))
b = json.load(open("trials.json"))
assert [{k: v for k, v in r.items() if v} for r in a] == \
    [{k: str(v) for k, v in r.items()} for r in b]
print(len(a))
END
