# Help goes to stdout, and every command has it.
faultlag --help
for command in list describe run bench compare merge doctor; do
  faultlag $command --help
done
faultlag --version | sed 's/(.*/(COMMIT)/'
