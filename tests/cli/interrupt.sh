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

# Killed again and again, at moments that have nothing to do with what it is
# doing: what was kept stays, byte for byte, and in the end the rows are those
# of a run that nobody disturbed.
python3 - $options <<'END'
import csv, random, subprocess, sys, time
quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
def rows(folder):
    with open(folder + "/trials.csv", newline="") as f:
        lines = [l for l in f if not l.startswith("#")]
    # What a free trial measures is another thing each time.
    return sorted((r["trial_id"],) + (() if r["mode"] == "free" else tuple(
        v for k, v in r.items() if k != "wall_ms"))
        for r in csv.DictReader(lines))
def kept():
    s = open("again/trials.csv", "rb").read()
    return s[:s.rfind(b"\n") + 1]
random.seed()
command = ["faultlag", "bench", *sys.argv[1:], "--out", "again"]
kills, before = 0, b""
while True:
    run = subprocess.Popen(command + ["--quiet"], **quiet)
    try:
        code = run.wait(random.uniform(0.05, 0.4)) if kills < 6 else run.wait()
        break
    except subprocess.TimeoutExpired:
        run.kill()
        run.wait()
    kills += 1
    try:
        open("again/context.json").close()
    except FileNotFoundError:   # it had not begun; there is nothing to keep
        subprocess.run(["rm", "-rf", "again"])
        continue
    assert kept().startswith(before), (kept(), before)
    before = kept()
    command = ["faultlag", "bench", "--resume", "again"]
assert kept().startswith(before) and kills
print(code, rows("again") == rows("whole"))
END

# Nothing is ever written over.
faultlag bench $options --out whole && exit 1 || echo "exit $?" >&2
faultlag run bad-gather --device sim --csv whole/trials.csv && exit 1 ||
  echo "exit $?" >&2
