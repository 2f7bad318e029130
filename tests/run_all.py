#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Builds LightNet with each compiler, runs all tests of each build and the checks of the sources, and counts.

usage: run_all.py [--jobs N] [--only NAME] [--all]

The last line is `N passed, N failed` (and `, N skipped` where a test lacked something). Exit status 0 when none failed.
"""
import argparse
import functools
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# name, compiler, options of `meson setup`
BUILDS = [
    ("gcc", "gcc", ["-Dwerror=true"]),
    ("clang-sanitized", "clang", ["-Dwerror=true", "-Db_sanitize=address,undefined", "-Db_lundef=false",
                                  "-Doptimization=1"]),
]

# With --all. name: machines that can build it, suites of tests, times that they take longer, variables. arm64 runs by qemu, slowly.
CROSS = {
    "arm64": (["x86_64"], ["lightnet:tensorlight", "lightnet:lightnet"], 20, {"LN_TEST_EMULATED": "1"}),
    "musl": (["x86_64"], ["lightnet:tensorlight", "lightnet:lightnet", "lightnet:reference", "lightnet:onnx"], 2, {}),
}

# name, command; run after the builds, from the root
CHECKS = [
    ("format", ["tests/check_format"]),
    ("tidy", ["tests/check_tidy", "build-clang-sanitized"]),
]

# Findings show two calls of where memory came from; a program that is run by hand shows them all. Each place of an allocation that
# is told from others takes memory, which is what starting a program costs. LeakSanitizer of Clang 14 takes memory of thread-local
# variables that begins 16 bytes into a page for that of an old C library, reads a wrong size in front of it and fails: it is told
# not to look at the thread-local variables of plugins (oneDNN's happened to lie so).
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:malloc_context_size=2:intercept_tls_get_addr=0",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}


class Count:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, ok):
        self.passed += ok
        self.failed += not ok

    def add_junit(self, path):
        """Counts the test cases of Meson's report, each TAP line for itself."""
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            if case.find("skipped") is not None:
                self.skipped += 1
            else:
                self.add(case.find("failure") is None and case.find("error") is None)

    def __str__(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def run(command, **kwargs):
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, **kwargs).returncode == 0


def run_quietly(command, **kwargs):
    """Runs a command whose output matters only when it fails."""
    result = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, **kwargs)
    if result.returncode:
        print(result.stdout[-20000:])
    return result.returncode == 0


def is_built(build, setup, targets, env, jobs):
    """Whether a folder could be configured, if it was not yet, and the targets (none: all) built."""
    return ((os.path.exists(os.path.join(ROOT, build, "build.ninja")) or run_quietly(["meson", "setup", build, *setup], env=env))
            and run_quietly(["ninja", "-C", build, f"-j{jobs}", *targets], env=env))


def run_tests(build, arguments, env, jobs, count):
    run_ok = run(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", "--quiet",
                  "--num-processes", str(jobs), *arguments], env=env)
    before = count.failed
    count.add_junit(os.path.join(ROOT, build, "meson-logs", "testlog.junit.xml"))
    if not run_ok and count.failed == before:
        count.add(False)


def build_and_test(name, compiler, options, jobs, count):
    env = dict(os.environ, CC=compiler, **SANITIZERS)
    if is_built(f"build-{name}", options, [], env, jobs):
        run_tests(f"build-{name}", [], env, jobs, count)
    else:
        count.add(False)


def skip(reason, count):
    print(f"   skipped: {reason}")
    count.skipped += 1


def build_and_cross(name, jobs, count):
    """For another machine or C library: its requirements, a build with tools/cross/NAME.ini, and the tests that can run."""
    machines, suites, slowness, env = CROSS[name]
    root, factor = f"build-{name}-root", str(slowness)
    env = dict(os.environ, CC="gcc", CK_TIMEOUT_MULTIPLIER=factor, **env)
    setup = ["--cross-file", f"{root}/root.ini", "--cross-file", f"tools/cross/{name}.ini", "-Dwerror=true"]
    if os.uname().machine not in machines:
        skip(f"this machine is {os.uname().machine}, expected {' or '.join(machines)}", count)
    elif not (run_quietly(["tools/packages", name]) and run_quietly(["tools/sysroot", name, root])):
        skip(f"the packages for {name} cannot be had", count)
    elif is_built(f"build-{name}", setup, [], env, jobs):
        arguments = [word for suite in suites for word in ("--suite", suite)]
        run_tests(f"build-{name}", [*arguments, "--timeout-multiplier", factor], env, jobs, count)
    else:
        count.add(False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", help="one build or check by name")
    parser.add_argument("--all", action="store_true", help="builds for arm64 and musl, too, which take some minutes")
    args = parser.parse_args()
    count = Count()
    if args.all:
        os.environ["LIGHTNET_TEST_ALL"] = "1"
    builds = {name: functools.partial(build_and_test, name, compiler, options) for name, compiler, options in BUILDS}
    builds.update({name: functools.partial(build_and_cross, name) for name in CROSS if args.all or args.only == name})
    for name, build in builds.items():
        if args.only in (None, name):
            start = time.time()
            print(f"== {name}", flush=True)
            build(args.jobs, count)
            print(f"   {time.time() - start:.0f} s, so far {count}", flush=True)
    for name, command in CHECKS:
        if args.only in (None, name):
            start = time.time()
            print(f"== {name}", flush=True)
            count.add(run_quietly(command))
            print(f"   {time.time() - start:.0f} s", flush=True)
    print(count)
    return 1 if count.failed or not count.passed else 0


if __name__ == "__main__":
    sys.exit(main())
