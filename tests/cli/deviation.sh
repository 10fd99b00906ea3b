# An expectation that does not hold turns the run red and says where.
faultlag run selftest-false-expectation --device sim --strategy async \
  --trials 1 >table && exit 1 || echo "exit $?" >&2
