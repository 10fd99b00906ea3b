# Every faulty variant swapped for its healthy twin must turn the run red:
# otherwise its expectations would hold of anything. (Where a race may go
# either way in one trial, only many trials can tell.)
export FAULTLAG_TWIN=1
for name in $(faultlag list | sed -n '/^scenarios/,/^strategies/s/^  \([a-z][a-z0-9-]*\).*/\1/p'); do
  case $name in preprocess-race) trials=20 schedule=random ;;
                *) trials=1 schedule=eager ;; esac
  faultlag run "$name" --device sim --strategy async --schedule $schedule \
    --trials $trials --quiet --csv "$name.csv" >/dev/null 2>&1 &&
    echo "$name: still green" ||
    { code=$?; [ $code = 1 ] || echo "$name: exit $code"; }
  python3 "$tests/table.py" "$name.csv" outcome | grep -v '^clean$' || true
done
