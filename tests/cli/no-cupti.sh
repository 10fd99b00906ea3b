# A runtime without CUPTI beside it: cupti-log is skipped, and says why.
mkdir -p alone/bin alone/lib/simgpu
cp "$bin/faultlag" "$bin/faultlag-trial" alone/bin
ln -s "$bin/../lib/simgpu/libcudart.so.13" alone/lib/simgpu
ln -s "$bin/../lib/cuda" alone/lib
alone/bin/faultlag run bad-gather --device sim --strategy async,cupti-log \
  --trials 1 --csv trials.csv --quiet >/dev/null
python3 "$tests/table.py" trials.csv strategy outcome as_expected reason |
  sed 's| /[^ ]*/lib| LIB/lib|; s/: cannot open.*//'
