# Usage errors are told on stderr and end with 2, before anything is run.
try() {
  "$@" && code=0 || code=$?
  echo "exit $code" >&2
}
try faultlag
try faultlag lisst
try faultlag list extra
try faultlag run
try faultlag run bad-gather --stratgy async
try faultlag run bad-gather --strategy
try faultlag run bad-gather --help=yes
try faultlag run bad-gater --device sim
try faultlag run bad-gather --device sim --strategy async,sinc
try faultlag run bad-gather --device sim --variant healty
try faultlag run bad-gather --device sim --trials many
try faultlag run bad-gather --device sim --trials 0
try faultlag run bad-gather --device sim --mode fast
try faultlag run bad-gather --device sim --schedule greedy
try faultlag run bad-gather --device sim --color maybe
try faultlag run bad-gather --device gpu
try faultlag bench --device sim --filter '['
try faultlag bench --device sim --filter nothing-like-this
try faultlag bench --resume no/such/folder
