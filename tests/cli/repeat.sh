# The same seed gives the same rows, whatever else the machine does; seeds
# differ from each other.
go() {
  faultlag run bad-gather,preprocess-race --device sim \
    --strategy async-check,event-poll --schedule all --trials 6 --quiet \
    --csv "$1" >/dev/null
  python3 - "$1" <<'END'
import csv, sys
for row in sorted(csv.DictReader(open(sys.argv[1])),
                  key=lambda r: r["trial_id"]):
    del row["wall_ms"]
    print(row)
END
}
go a.csv >a
go b.csv >b
cmp a b
wc -l <a
python3 "$tests/table.py" a.csv repeatable | uniq -c | sed 's/^ *//'
# Under `random` the place of the report is a matter of the seed.
python3 - <<'END'
import csv
rows = [r for r in csv.DictReader(open("a.csv"))
        if r["scenario"] == "bad-gather" and r["strategy"] == "async-check"]
at = lambda s: {r["launches_between"] for r in rows if r["schedule"] == s}
print(len(at("random")) > 1, len(at("eager")), len(at("lazy")))
END
