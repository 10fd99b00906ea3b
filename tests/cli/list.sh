# The catalogue as JSON: what a program may rely on; self-tests are not listed.
faultlag list --json >list.json
python3 - <<'END'
import json, os
listing = json.load(open("list.json"))
print(sorted(listing))
names = [s["name"] for s in listing["scenarios"]]
print(names == sorted(names), len(names) >= 6, len(set(names)) == len(names),
      [n for n in names if n.startswith("selftest")])
for s in listing["scenarios"]:
    assert s["summary"] and s["stands_for"], s["name"]
    assert {"faulty", "healthy"} <= set(s["variants"]), s["name"]
    assert ("guarded" in s["variants"]) == ("guard" in s), s["name"]
    assert s["launch_line"] > 0 and s["launch_function"], s["name"]
    assert s["launch_file"] == "scenarios/" + s["name"] + ".c", s["name"]
    assert s["expect"], s["name"]
    assert all(e["basis"] for e in s["expect"]), s["name"]
print([s["name"] for s in listing["strategies"]])
print([d["name"] for d in listing["devices"]],
      listing["devices"][0]["usable"])
# Every strategy is explained, and every scenario covers every strategy.
page = open(os.environ["tests"] + "/../../docs/strategies.md").read()
for s in listing["strategies"]:
    assert "| `%s` |" % s["name"] in page, s["name"]
    for scenario in listing["scenarios"]:
        assert any(e["strategy"] in ("*", s["name"])
                   for e in scenario["expect"]), (scenario["name"], s["name"])
END
faultlag list | grep -c '^  selftest' || true
