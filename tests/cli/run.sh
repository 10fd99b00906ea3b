# The point of it all: blocking names the launch, asynchronous checking another
# function, several launches later.
faultlag run bad-gather --device sim --strategy async,sync --trials 5 \
  --csv - --quiet 2>summary >trials.csv
python3 "$tests/table.py" trials.csv scenario variant strategy device mode \
  outcome expected as_expected error_code error_name launches_between \
  launch_function report_function suspects localized cascade_errors |
  uniq -c | sed 's/^ *//'
python3 - <<'END'
import csv
rows = list(csv.DictReader(open("trials.csv")))
for r in rows:
    sync = r["strategy"] == "sync"
    assert r["launch_file"] == r["report_file"] == "scenarios/bad-gather.c"
    assert (r["launch_line"] == r["report_line"]) == sync
    assert int(r["launches_between"]) == 0 if sync \
        else int(r["launches_between"]) >= 3
    assert (int(r["frame_distance"]) == 0) == sync
    assert int(r["latency_fault_to_report_ns"] or 0) >= 0
    assert int(r["clock_uncertainty_ns"] or 0) >= 0
    assert r["fault_file"] == "kernels/gather.cu" and int(r["fault_line"])
    assert r["trial_id"] == "bad-gather/faulty/%s/free/%s" % (r["strategy"],
                                                             r["seed"])
print(sorted({r["seed"] for r in rows}))
END
grep -c '^bad-gather  *faulty' summary
