# A scenario's own time limit holds where it is shorter than the run's.
faultlag run selftest-limit --device sim --strategy async --trials 1 \
  --timeout 60 --csv trials.csv --quiet >/dev/null
python3 - <<'END'
import csv
row, = csv.DictReader(open("trials.csv"))
assert 300 <= int(row["wall_ms"]) < 30000, row["wall_ms"]
print(row["outcome"], row["as_expected"])
END
