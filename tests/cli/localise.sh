# What each strategy can say of one fault in a serial program that asks nothing
# before the step ends: the launch, some launches or the step; and how often it
# waited to know. Lazy schedules do no work until the host waits or asks.
faultlag run bad-gather --device sim --schedule lazy --trials 1 \
  --csv trials.csv --quiet >/dev/null
python3 "$tests/table.py" trials.csv strategy outcome suspects error_code \
  report_function launches_between host_waits cascade_errors
