# The trial verifies which device it got, whatever it was told.
env LD_LIBRARY_PATH="$bin/../lib/simgpu" \
  LD_PRELOAD="$bin/../lib/simgpu/libcudart.so.13" \
  faultlag-trial --scenario bad-gather --device cuda && exit 1 ||
  echo "exit $?" >&2
env LD_LIBRARY_PATH="$bin/../lib/cuda" \
  LD_PRELOAD="$bin/../lib/cuda/libcudart.so.13" \
  faultlag-trial --scenario bad-gather --device sim && exit 1 ||
  echo "exit $?" >&2
faultlag doctor --device sim |
  sed -n 's/^ok *\(device sim\|simgpu\|catalogue\) .*/\1 ok/p'
