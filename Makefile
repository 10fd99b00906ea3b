# The two commands of a fresh machine: `make bench` and `make test`.
# Everything else is CMake (CMakePresets.json); this file only makes sure that
# what is needed is there (tools/setup) and names the common jobs.
#
#   make                      build into build/
#   make bench                catalogue, throughput, plots and report
#   make run SCENARIO=name    one scenario; ARGS='--strategy async,sync ...'
#   make plots                docs/findings.md again, from results/reference-*
#   make plots RUN=dir        pictures and report of a finished run again
#   make test                 every test, sanitizer builds too
#   make gpu-check            on a GPU, from a finished build, without network
#   make clean                forget the builds (results/ stays)

SHELL := /bin/bash
DEVICE ?= auto
ARGS ?=

.PHONY: all setup build bench run plots test gpu-check clean
all: build

setup:
	@tools/setup >/dev/null

build:
	@tools/build release

bench: build
	@tools/bench --device $(DEVICE) $(ARGS)

run: build
	@test -n "$(SCENARIO)" || { echo "usage: make run SCENARIO=name (see: build/bin/faultlag list)" >&2; exit 2; }
	@build/bin/faultlag run $(SCENARIO) --device $(DEVICE) $(ARGS)

plots: setup
	@tools/plots $(RUN)

test:
	@tools/test $(ARGS)

gpu-check:
	@tools/gpu-check $(ARGS)

clean:
	rm -rf build build-asan build-tsan build-fuzz
