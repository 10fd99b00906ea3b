# Verdicts by outcome, distance and latency; between devices without latency;
# damaged tables are refused with one line. No device is needed: the rows are
# made here.
try() {
  "$@" && code=0 || code=$?
  echo "exit $code"
}
python3 - <<'END'
import csv, os
names = ["schema_version", "trial_id", "scenario", "variant", "strategy",
         "device", "device_name", "mode", "schedule", "outcome",
         "report_function", "launches_between", "latency_fault_to_report_ns",
         "a_later_column"]
def rows(cell, outcomes, between=0, latency=1000, way="free", device="sim"):
    for i, outcome in enumerate(outcomes.split()):
        told = outcome in ("exact", "late", "misattributed")
        yield dict(
            schema_version=1, trial_id="%s/%s/%d" % (cell, way, i),
            scenario=cell, variant="faulty", strategy="async", device=device,
            device_name="a " + device, mode="free" if way == "free"
            else "seeded", schedule="" if way == "free" else way,
            outcome=outcome, report_function="step" if told else "",
            launches_between=between + (between and i % 2) if told else "",
            latency_fault_to_report_ns=latency + 10 * i
            if told and way == "free" else "")
def write(folder, *cells):
    os.mkdir(folder)
    with open(folder + "/trials.csv", "w", newline="") as f:
        f.write("# a comment\n")
        out = csv.DictWriter(f, names, lineterminator="\n")
        out.writeheader()
        for cell in cells:
            out.writerows(cell)
exact, late = "exact " * 6, "late " * 6
write("a", rows("steady", exact), rows("blamed", exact), rows("found", late),
      rows("farther", late, 2), rows("slower", late, 5),
      rows("few", "exact exact"), rows("fixed", "exact", way="eager"),
      rows("mixed", "late hidden late hidden"), rows("gone", exact),
      rows("silenced", exact), rows("not-run", exact))
write("b", rows("steady", exact), rows("blamed", late, 3),
      rows("found", exact), rows("farther", late, 9),
      rows("slower", late, 5, 5000), rows("few", "late late"),
      rows("fixed", "late", 4, way="eager"),
      rows("mixed", "late hidden late late"), rows("new", exact),
      rows("silenced", "silent " * 6), rows("not-run", "skipped " * 6))
write("c", rows("steady", exact, 0, 90000, device="cuda"),
      rows("slower", late, 5, 90000, device="cuda"))
write("a-few", rows("steady", exact), rows("slower", late, 5))
END
try faultlag compare a b
try faultlag compare b a | tail -2
try faultlag compare a a --all | grep -v mixed
try faultlag compare a-few c --all
try faultlag compare a b --json >json || true
python3 - <<'END'
import json
j = json.loads(open("json").read().replace("exit 1", ""))
by = {c["scenario"]: c for c in j["cells"]}
print(j["counts"])
print(by["slower"]["why"], by["slower"]["latency_fault_to_report_ns"])
print(by["silenced"]["why"], by["silenced"]["b"]["outcomes"])
print(by["gone"])
END
# What is damaged.
damage() {
  rm -rf bad && mkdir bad && cat >bad/trials.csv
  try faultlag compare a bad
  try faultlag compare bad a
}
head -c 700 a/trials.csv | damage
printf '' | damage
head -2 a/trials.csv | damage
printf 'a,b\n1,2\n' | damage
sed 's/late,step/lately,step/' a/trials.csv | damage
sed '5s/^1,/7,/' a/trials.csv | damage
sed '5s/,step,[01],/,step,near,/' a/trials.csv | damage
sed '5p' a/trials.csv | damage
sed '2s/variant/outcome/' a/trials.csv | damage
sed '5s/$/,more/' a/trials.csv | damage
sed '5s/free/"free/' a/trials.csv | damage
printf 'a\0b\n' | damage
rm -rf bad
try faultlag compare a bad
try faultlag compare a
try faultlag compare a b c
