# Somebody kills a trial's process: a row, and the run goes on.
faultlag run selftest-hang,bad-gather --device sim --strategy async \
  --variant faulty --trials 1 --timeout 60 --csv trials.csv --quiet \
  >summary 2>progress &
run=$!
for i in $(seq 600); do
  # The trial that waits in pause(), on x86-64 system call 34.
  for pid in $(cat /proc/$run/task/$run/children 2>/dev/null); do
    if { tr '\0' ' ' <"/proc/$pid/cmdline"; } 2>/dev/null |
       grep -q 'scenario selftest-hang' &&
       grep -q '^34 ' "/proc/$pid/task/$pid/syscall" 2>/dev/null; then
      kill -9 "$pid"
    fi
  done
  kill -0 $run 2>/dev/null || break
  sleep 0.1
done
wait $run && code=0 || code=$?
echo "exit $code"
python3 "$tests/table.py" trials.csv scenario outcome exit_status deviation
