# The shards of a bench, merged, are the rows of the whole bench; what does not
# belong together or is not complete is refused with one line, and nothing is
# written.
options='--device sim --filter ^bad-gather$|shared --strategies async,sync
  --variants faulty,healthy --trials 3 --quiet'
# Where in the file a torn record is depends on the columns.
try() {
  "$@" >/dev/null 2>said && code=0 || code=$?
  sed 's/at byte [0-9]*/at byte N/' said >&2
  echo "exit $code" >&2
}
shard() { # I/N FOLDER OPTIONS...
  faultlag bench $options --shard "$1" --out "$2" ${3:-} >/dev/null 2>&1
}
rows() {
  python3 - "$1" <<'END'
import csv, sys
for row in sorted(csv.DictReader(l for l in open(sys.argv[1] + "/trials.csv")
                                 if not l.startswith("#")),
                  key=lambda r: r["trial_id"]):
    del row["wall_ms"]
    print(row)
END
}
seeded='--mode seeded'
faultlag bench $options $seeded --out whole >/dev/null 2>&1
for i in 1 2 3; do shard $i/3 $i "$seeded"; done
faultlag merge 2 3 1 --out merged >table 2>/dev/null
rows whole >a
rows merged >b
cmp a b
wc -l <a
for i in 1 2 3; do rows $i | wc -l; done
tail -n +2 table | wc -l
python3 - <<'END'
import json
read = lambda d: json.load(open(d + "/context.json"))
m, whole = read("merged"), read("whole")
print(sorted(set(whole) - set(m)), sorted(set(m) - set(whole)))
drop = lambda a: [x for x in a if x != "--out" and x not in ("whole",)]
print(m["arguments"] == drop(whole["arguments"]), m["trials"],
      [s["trials"] for s in m["shards"]])
END

# Free trials: the same trials, though not the same rows; the timelines come
# from the first shard alone, and are those of the whole.
for i in 1 2; do shard $i/2 free$i '--mode free'; done
ls free1 free2 | grep trace
faultlag merge free1 free2 --out free >/dev/null 2>&1
ls free | grep -c trace

# A trial that deviates keeps its log.
export FAULTLAG_TWIN=1
for i in 1 2; do shard $i/2 twin$i "$seeded" || true; done
unset FAULTLAG_TWIN
faultlag merge twin1 twin2 --out twin >/dev/null 2>&1 && exit 1 || echo "exit $?"
ls twin1/logs twin2/logs | grep -c txt
ls twin/logs | wc -l

try faultlag merge 1 2 --out none
try faultlag merge 1 2 3 2 --out none
try faultlag merge 1 2 free2 --out none
try faultlag merge 1 2 3 --out merged
try faultlag merge 1 2 nowhere --out none
try faultlag merge --out none
edit() { # FILE SED
  rm -rf bad && cp -r 3 bad && sed -i "$2" "bad/$1"
  try faultlag merge 1 2 bad --out none
}
edit context.json 's/"commit":"/&x/'
edit context.json 's/software device/another device/'
edit context.json 's/"--trials","3"/"--trials","4"/'
edit context.json 's/"3\/3"/"4\/3"/'
edit trials.csv '$d'
edit trials.csv '$s/^/"/'
cp 1/trials.csv bad/trials.csv
python3 - <<'END'
import json
for f in "1", "bad":
    json.load(open(f + "/context.json"))
c = json.load(open("bad/context.json"))
c["trials"] = json.load(open("1/context.json"))["trials"]
json.dump(c, open("bad/context.json", "w"))
END
try faultlag merge 1 2 bad --out none
try faultlag bench $options --shard 0/3 --out none
try faultlag bench $options --shard 1 --out none
try faultlag bench $options --shard 200/200 --out none
[ ! -e none ]
