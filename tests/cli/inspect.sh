# What memory there was at the report, and what operators were given, in a
# trial of its own that gives no row.
look() {
  faultlag run "$@" --device sim --trials 1 --quiet
}
# What may change with the scenarios' sources and numbers.
places() {
  sed 's/\(\.[ch]\):[0-9]*/\1:LINE/g; s/0x[0-9a-f]*/ADDRESS/g
    s/ < [^;]*//g; s/\(float32[^ ]*\)  [-0-9].*/\1  LOW .. HIGH/
    s/  [0-9]* \.\. \([0-9]\{1,2\}\)$/  LOW .. HIGH/
    s/  [0-9]* \.\. /  LOW .. /; s/int64\[[1-9][0-9]*\]/int64[N]/'
}

# The address lies in what was freed; where that was made and freed.
look use-after-free --strategy async --memory-summary --csv rows.csv >out
wc -l <rows.csv
sed -n '/^memory/,/reported/p; /^read/p; /^\*/p' out | places |
  sed 's/#[0-9]*/#N/; s/^\* *[0-9]*/* N/' 
# Each allocation once, its bytes summed up.
awk '/live allocations/ { n = $1 } / (device|pinned|managed) / && !/freed in/ {
  lines++ } END { print (n > 0), (n == lines) }' out

# A range that says all; beyond the fault nothing can be read.
look bad-gather --strategy async --record-inputs | places >out
grep -A 4 '^   28' out
sed -n '/unreadable/,$p' out
# Under a strategy that waits the fault launch is the last of all.
look bad-gather --strategy sync --record-inputs | places | tail -1
# The mask chose nothing, and the kernel is launched on no blocks.
look empty-mask --strategy async --record-inputs | places |
  grep -A 1 k_index_scale
# Of memory that is gone nothing can be read.
look use-after-free --strategy async --record-inputs | grep 'only 0' | sort -u

# As JSON; seeded trials too; never over an older file.
look bad-gather --strategy sync --schedule lazy --inspect j --record-inputs \
  >/dev/null
python3 - <<'END'
import json
j = json.load(open("j"))
print(j["report"]["error_name"], j["memory"]["fault"]["access"],
      j["operators"][-1]["name"], j["not_described"])
END
look bad-gather --strategy sync --inspect j && exit 1 || echo "exit $?" >&2
look bad-gather --variant healthy --memory-summary && exit 1 ||
  echo "exit $?" >&2
# One that does not come to its end leaves nothing to show.
look selftest-kill --strategy async --memory-summary --timeline >/dev/null

# Every launcher has its row.
top=$tests/../..
sed -n 's/^void \(k_[a-z0-9_]*\).*/\1/p' "$top/kernels/kernels.h" | sort >a
sed -n 's/^OPERATOR(\([^,]*\),.*/\1/p' "$top/harness/operators.def" | sort |
  diff a -
