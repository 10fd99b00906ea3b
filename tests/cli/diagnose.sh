# A log for people: the verdict first, within a screen; nothing wrong; standard
# input; rules of one's own; what cannot be read.
logs=$tests/../diagnose/logs
status() { "$@" && code=0 || code=$?; echo "exit $code"; }
status faultlag diagnose "$logs/a00-nll-elsewhere-none.log"
status faultlag diagnose "$logs/t06-nccl-watchdog-only.log"
for log in "$logs"/*.log; do
  faultlag diagnose "$log" >text || [ $? = 1 ]
  [ "$(wc -l <text)" -le 24 ] || echo "$log: more than a screen"
done
status faultlag diagnose - <"$logs/z01-training.log"
printf 'assert expr="t >= 0" op=mine cause=race\n' >own.rules
faultlag diagnose "$logs/a00-nll-elsewhere-none.log" --json --rules own.rules |
  grep -o '"operator":"[a-z]*"'
printf 'asert expr=x\n' >bad.rules
status faultlag diagnose "$logs/z00-empty.log" --rules bad.rules
status faultlag diagnose "$logs/z00-empty.log" --rules no/such.rules
status faultlag diagnose no/such.log
status faultlag diagnose .
