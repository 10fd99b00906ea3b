# What is not possible here is no deviation: counted, shown with its reason, and
# 77 where nothing else was run.
run() {
  code=0
  faultlag run selftest-skip --device sim --strategy async --trials 2 \
    --variant "$1" --csv "$1.csv" --quiet >"$1" || code=$?
  echo "$1: exit $code"
  sed 's/  */ /g' "$1"
}
run faulty
run all
python3 "$tests/table.py" all.csv variant outcome as_expected reason
