# A timeline that a viewer of Chrome traces takes: lanes, kernels, the fault
# between its launch and its report; and it is never written over.
faultlag run bad-gather --device sim --strategy async --trials 1 --quiet \
  --trace trace.json --csv - 2>/dev/null | wc -l
python3 - <<'END'
import json
trace = json.load(open("trace.json"))
events = trace["traceEvents"]
print(sorted({(e["ph"], e["cat"]) for e in events}))
lanes = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
print(sorted(lanes.values()))
kernels = [e for e in events if e["cat"].startswith("kernel")]
launches = {e["args"]["launch"]: e for e in events if e["cat"] == "launch"}
fault = next(e for e in events if e["name"] == "fault")
report = next(e for e in events if e["name"] == "report")
cut = [k for k in kernels if k["cat"] != "kernel"]
print(len(cut), cut[0]["name"], cut[0]["args"]["file"])
assert fault["ts"] <= report["ts"]
error = 1 + 2 * trace["otherData"]["clock_uncertainty_ns"] / 1000
for k in kernels:
    assert k["ts"] + k["dur"] >= launches[k["args"]["launch"]]["ts"] - error, k
assert launches[cut[0]["args"]["launch"]]["ts"] <= fault["ts"]
END
before=$(cksum trace.json)
faultlag run bad-gather --device sim --strategy async --trials 1 --quiet \
  --trace trace.json >/dev/null && exit 1 || echo "exit $?" >&2
[ "$before" = "$(cksum trace.json)" ]

# The same as text; what it was drawn from is gone afterwards.
TMPDIR=$PWD faultlag run bad-gather --device sim --strategy async --trials 1 \
  --quiet --timeline >text
sed -n 's/ at [^:]*:\(.*\):[0-9]*/:\1/p' text
sed '1,/^$/d' text | awk 'length > 80'       # after the table of cells
ls
faultlag run bad-gather --device sim --variant healthy --trials 1 --quiet \
  --timeline && exit 1 || echo "exit $?" >&2
