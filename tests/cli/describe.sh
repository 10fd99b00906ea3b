# A scenario with what is expected of it, and a strategy.
faultlag describe empty-mask | sed 's/\.c:[0-9]*/.c:LINE/'
faultlag describe sync
faultlag describe sync --json
faultlag describe nothing && exit 1 || echo "exit $?" >&2
