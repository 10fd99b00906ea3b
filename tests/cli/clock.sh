# Whatever the device's timer shows, the fault's time on the host's clock is
# found: another epoch, drift, coarse steps. A timer that no line fits makes
# the trial broken instead of wrong.
try() { # STEP SETTING...
  step=$1
  shift
  env "$@" faultlag run bad-gather,dynamic-lengths --device sim \
    --strategy async,sync --trials 3 --csv - --quiet 2>/dev/null >rows.csv ||
    true
  python3 - $step "$*" <<'END'
import csv, sys
rows = list(csv.DictReader(open("rows.csv")))
broken = [r["reason"] for r in rows if r["outcome"] == "broken"]
for r in rows:
    if r["latency_fault_to_report_ns"]:
        late = int(r["latency_fault_to_report_ns"])
        assert 0 <= late < 1e6 * int(r["wall_ms"]), r
        assert int(r["clock_uncertainty_ns"]) <= 1e6 * int(r["wall_ms"]), r
# On a crowded machine the device may be asked too little to tell its step.
assert {r["timer_granularity_ns"] for r in rows} <= {sys.argv[1], ""}, rows
print(sys.argv[2], len(rows), "rows", len(broken), "broken",
      sorted(set(broken)))
END
}
try 32 SIMGPU_TIMER_OFFSET_NS=0
try 32 SIMGPU_TIMER_OFFSET_NS=1700000000000000000 SIMGPU_TIMER_PPM=300
try 1024 SIMGPU_TIMER_OFFSET_NS=-1000000 SIMGPU_TIMER_PPM=-300 \
  SIMGPU_TIMER_GRANULARITY_NS=1024
try 1 SIMGPU_TIMER_GRANULARITY_NS=1
# Half as fast again as any clock: better no times than wrong ones.
SIMGPU_TIMER_PPM=500000 faultlag run bad-gather --device sim --strategy async \
  --trials 2 --csv fast.csv --quiet >/dev/null 2>&1 || true
python3 "$tests/table.py" fast.csv outcome reason latency_fault_to_report_ns \
  clock_uncertainty_ns
