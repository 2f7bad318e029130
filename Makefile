# SPDX-License-Identifier: Apache-2.0
# The front door of LightNet: `make run` and `make test` are all a newcomer needs. Meson and Ninja do the work.

PREFIX ?= /usr/local
BUILD  ?= build
JOBS   ?= $(shell nproc)

.PHONY: all run test test-all quick-test install clean help packages

all: $(BUILD)/build.ninja ## build everything, optimized, in $(BUILD)/
	@ninja -C $(BUILD) -j$(JOBS)

run: $(BUILD)/build.ninja ## build the program, then run the example of the IR document and the digit network
	@ninja -C $(BUILD) -j$(JOBS) cli/lightnet
	@tools/demo $(BUILD)

test: packages ## build and run all tests: gcc, clang, sanitizers, formatting, clang-tidy
	@/usr/bin/python3 tests/run_all.py --jobs $(JOBS)

test-all: packages ## the same, and the kernels for arm64 by qemu, which takes some minutes more
	@/usr/bin/python3 tests/run_all.py --jobs $(JOBS) --all

quick-test: all ## the tests of one build only
	@meson test -C $(BUILD) --print-errorlogs --num-processes $(JOBS)

install: all ## install to $(PREFIX)
	@tools/install $(BUILD) $(PREFIX)

clean: ## remove what was built
	rm -rf build build-*

packages: ## install the distribution packages that are missing
	@tools/packages

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 20

$(BUILD)/build.ninja: | packages
	@meson setup $(BUILD) --buildtype=release
