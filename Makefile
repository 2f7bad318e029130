# SPDX-License-Identifier: Apache-2.0
# The front door of LightNet: `make run` and `make test` are all a newcomer needs. Meson and Ninja do the work.

PREFIX ?= /usr/local
BUILD  ?= build
JOBS   ?= $(shell nproc)
# make run BUILD=DIR JOBS=N: another folder to build in, and how much at once.
# make run PACKAGES=no: install no distribution packages, only list those that are missing.
export DESTDIR PACKAGES

.PHONY: all run test test-all quick-test install uninstall clean help packages test-packages

all: $(BUILD)/build.ninja ## build everything, optimized, in $(BUILD)/
	@ninja -C $(BUILD) -j$(JOBS)

run: $(BUILD)/build.ninja ## build the program, then run the example of the IR document and the digit network
	@ninja -C $(BUILD) -j$(JOBS) cli/lightnet
	@tools/demo $(BUILD)

test: test-packages ## build and run all tests: gcc, clang, sanitizers, formatting, clang-tidy
	@/usr/bin/python3 tests/run_all.py --jobs $(JOBS)

test-all: test-packages ## the same, and the kernels for arm64 by qemu, which takes some minutes more
	@/usr/bin/python3 tests/run_all.py --jobs $(JOBS) --all

quick-test: test-packages $(BUILD)/build.ninja ## the tests of one build only
	@meson setup --reconfigure $(BUILD) >/dev/null
	@ninja -C $(BUILD) -j$(JOBS)
	@meson test -C $(BUILD) --print-errorlogs --num-processes $(JOBS)

install: $(BUILD)/build.ninja ## install to PREFIX, /usr/local if it is not given, below DESTDIR if that is given
	@ninja -C $(BUILD) -j$(JOBS) installed
	@tools/install $(BUILD) $(PREFIX)

uninstall: ## remove what was installed to PREFIX
	@tools/uninstall $(PREFIX)

clean: ## remove what was built
	rm -rf build build-*

packages: ## install the packages that building needs and that are missing, where apt-get exists
	@tools/packages

test-packages: packages ## those that tests need
	@tools/packages tests

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 20

$(BUILD)/build.ninja: | packages
	@meson setup $(BUILD) --buildtype=release
