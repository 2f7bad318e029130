# SPDX-License-Identifier: Apache-2.0
# Entry points of the build: `make run` and `make test` are all a newcomer needs. Meson and Ninja do the work.

PREFIX ?= /usr/local
BUILD  ?= build
JOBS   ?= $(shell nproc)
# make run BUILD=DIR JOBS=N: another folder to build in, and how much at once.
# make run PACKAGES=no: install no distribution packages, only list those that are missing.
export DESTDIR PACKAGES

# PATH as one word of the shell. A leading ~/, which many shells leave alone in `make PREFIX=~/DIR`, is the home folder.
shell_word = '$(subst ','\'',$(if $(filter ~/%,$(firstword $(1))),$(HOME)/$(subst //~/,,//$(1)),$(1)))'
prefix_word := $(call shell_word,$(PREFIX))
build_word  := $(call shell_word,$(BUILD))
# The same as a target: blanks separate targets.
empty :=
ninja_file := $(subst $(empty) ,\ ,$(BUILD))/build.ninja

.PHONY: all run test test-more test-all quick-test install uninstall clean help fuzz-night coverage site packages test-packages coverage-packages site-packages

all: $(ninja_file) ## build everything, optimized, in BUILD, build/ if it is not given
	@ninja -C $(build_word) -j$(JOBS)

run: $(ninja_file) ## build the program, then run the example of the IR document and the digit network
	@ninja -C $(build_word) -j$(JOBS) cli/lightnet
	@tools/demo $(build_word)

test: test-packages ## build with gcc and run the tests, and check formatting
	@/usr/bin/python3 tests/run_all.py --jobs $(JOBS)

test-more: test-packages ## the same, slow tests, a build with clang and sanitizers, and clang-tidy
	@/usr/bin/python3 tests/run_all.py --jobs $(JOBS) --more

test-all: test-packages ## the same, and builds for arm64, run by qemu, and for musl
	@/usr/bin/python3 tests/run_all.py --jobs $(JOBS) --all

quick-test: test-packages $(ninja_file) ## the tests of one build only
	@meson setup --reconfigure $(build_word) >/dev/null
	@ninja -C $(build_word) -j$(JOBS)
	@meson test -C $(build_word) --print-errorlogs --num-processes $(JOBS)

fuzz-night: ## search for failing inputs, SECONDS (600) for each target or for those in TARGETS
	@tools/fuzz_night $(or $(SECONDS),600) $(TARGETS)

coverage: coverage-packages ## count the lines that the tests run, by part
	@/usr/bin/python3 tests/coverage.py --jobs $(JOBS)

site: site-packages ## build the documentation as a website, in BUILD/site
	@/usr/bin/python3 -B tools/site/make.py -o $(build_word)/site

install: $(ninja_file) ## install to PREFIX, /usr/local if it is not given, below DESTDIR if that is given
	@ninja -C $(build_word) -j$(JOBS) installed
	@tools/install $(build_word) $(prefix_word)

uninstall: ## remove what was installed to PREFIX
	@tools/uninstall $(prefix_word)

clean: ## remove what was built
	rm -rf build build-*

coverage-packages: test-packages
	@tools/packages coverage

site-packages:
	@tools/packages site

packages: ## install the packages that building needs and that are missing, where apt-get exists
	@tools/packages

test-packages: packages ## those that tests need
	@tools/packages tests

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 20

$(ninja_file): | packages
	@meson setup $(build_word) --buildtype=release
