# Whatever the device's timer shows, the fault's time on the host's clock is
# found: another epoch, drift, coarse steps. A timer that no line fits makes
# the trial broken instead of wrong.
try() {
  env "$@" faultlag run bad-gather,dynamic-lengths --device sim \
    --strategy async,sync --trials 3 --csv - --quiet 2>/dev/null >rows.csv ||
    true
  python3 - "$*" <<'END'
import csv, sys
rows = list(csv.DictReader(open("rows.csv")))
broken = [r["reason"] for r in rows if r["outcome"] == "broken"]
for r in rows:
    if r["latency_fault_to_report_ns"]:
        late = int(r["latency_fault_to_report_ns"])
        assert 0 <= late < 1e6 * int(r["wall_ms"]), r
        assert int(r["clock_uncertainty_ns"]) <= 1e6 * int(r["wall_ms"]), r
print(sys.argv[1] or "undistorted", len(rows), "rows", "granularity",
      sorted({r["timer_granularity_ns"] for r in rows}), "broken", len(broken),
      sorted(set(broken)))
END
}
try SIMGPU_TIMER_OFFSET_NS=0
try SIMGPU_TIMER_OFFSET_NS=1700000000000000000 SIMGPU_TIMER_PPM=300
try SIMGPU_TIMER_OFFSET_NS=-1000000 SIMGPU_TIMER_PPM=-300 \
  SIMGPU_TIMER_GRANULARITY_NS=1024
try SIMGPU_TIMER_GRANULARITY_NS=1
