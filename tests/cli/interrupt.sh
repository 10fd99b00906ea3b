# Ctrl-C saves what is done and says how to go on; the resumed set has the rows
# of an uninterrupted one. So has one that was killed outright, even with the
# last row torn.
options='--device sim --filter bad-gather$|shared --strategies async,sync
  --variants faulty --trials 4 --mode both'
enough() { [ -s "$1/trials.csv" ] && [ "$(wc -l <"$1/trials.csv")" -ge 7 ]; }
rows() { python3 "$tests/table.py" "$1/trials.csv" trial_id outcome; }

faultlag bench $options --out whole --quiet >/dev/null 2>&1
rows whole | wc -l

faultlag bench $options --out stopped >/dev/null 2>progress &
run=$!
until enough stopped; do sleep 0.02; done
kill -INT $run
wait $run && code=0 || code=$?
echo "exit $code"
grep -o 'faultlag bench --resume stopped' progress
python3 -c 'import csv
rows = list(csv.reader(open("stopped/trials.csv")))[1:]
assert 5 <= len(rows) < 40, len(rows)
assert all(len(r) == len(rows[0]) for r in rows)'
faultlag bench --resume stopped --quiet >/dev/null 2>&1
rows stopped | cut -d' ' -f1 >ids
rows whole | cut -d' ' -f1 | cmp - ids

faultlag bench $options --out killed >/dev/null 2>&1 &
run=$!
until enough killed; do sleep 0.02; done
kill -9 $run
wait $run 2>/dev/null || true
printf '1,"torn off' >>killed/trials.csv
cp killed/trials.csv before
faultlag bench --resume killed --quiet >/dev/null 2>&1
rows killed | cut -d' ' -f1 | cmp - ids
head -c "$(($(wc -c <before) - 11))" before >kept
head -c "$(wc -c <kept)" killed/trials.csv | cmp - kept

# Nothing is ever written over.
faultlag bench $options --out whole && exit 1 || echo "exit $?" >&2
faultlag run bad-gather --device sim --csv whole/trials.csv && exit 1 ||
  echo "exit $?" >&2
