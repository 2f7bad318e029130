#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Builds LightNet, runs the tests and the checks of the sources, and counts.

usage: run_all.py [--jobs N] [--only NAME] [--more] [--all] [--record FILE]

Without an option: the tests of a build with GCC that take seconds, and formatting. --more: also slow ones, a build with Clang
and sanitizers, and clang-tidy. --all: also tests of threads under the thread sanitizer, and builds for arm64 and musl.

--record: writes the counts as JSON, docs/data/tests.json for the badge of README.md. The last line is `N passed, N failed` (and `, N skipped` where a test lacked something). Exit status 0 when none failed.
"""
import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# name: folder, compiler, options of `meson setup`, those of `meson test`, variables
GCC = ["build-gcc", "gcc", ["-Dwerror=true", "-Dcuda=auto"]]
SANITIZED = ["-Dwerror=true", "-Db_lundef=false", "-Doptimization=1"]
BUILDS = {
    "gcc": [*GCC, ["--no-suite", "slow"], {}],
    "slow": [*GCC, ["--suite", "slow"], {}],
    "clang-sanitized": ["build-clang-sanitized", "clang", [*SANITIZED, "-Db_sanitize=address,undefined"], [], {}],
    "clang-threads": ["build-clang-threads", "clang", [*SANITIZED, "-Db_sanitize=thread"],
                      ["--timeout-multiplier", "10", "tl_pool_test", "ln_sharing", "ln_session", "ln_session_calls", "ln_session_memory",
                       "ln_session_threads"], {"LN_TEST_SECONDS": "60", "TSAN_OPTIONS": "die_after_fork=0"}],
}

# name: machines that can build it, suites of tests, times that they take longer, variables. arm64 runs by qemu, slowly.
CROSS = {
    "arm64": (["x86_64"], ["lightnet:tensorlight", "lightnet:lightnet"], 20, {"LN_TEST_EMULATED": "1"}),
    "musl": (["x86_64"], ["lightnet:tensorlight", "lightnet:lightnet", "lightnet:reference", "lightnet:onnx"], 2, {}),
}

# name: command; run after the builds, from the root
CHECKS = {
    "format": ["tests/check_format"],
    "tidy": ["tests/check_tidy", "build-clang-sanitized"],
}

# What runs without an option, with --more and with --all.
FAST = ["gcc", "format"]
MORE = ["gcc", "slow", "clang-sanitized", "format", "tidy"]
ALL = [*MORE[:3], "clang-threads", *CROSS, *MORE[3:]]

# Reports show two frames of an allocation; a manual run shows all. More frames cost memory and start-up time. LeakSanitizer of
# Clang 14 misreads the thread-local variables of some plug-ins (oneDNN), so this check is off.
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:malloc_context_size=2:intercept_tls_get_addr=0",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}


def reasons(output):
    """What a TAP program said of its cases: {the case's name as Meson has it: comments}."""
    case, said = None, {}
    for line in output.splitlines():
        if line.startswith(("ok ", "not ok ")):
            case = line.partition("ok ")[2]
            said[case] = []
        elif case and line.startswith("#"):
            said[case].append(line[1:].strip())
    return said


class Count:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.faults = []  # lines that say what failed

    def add(self, ok, what):
        """Counts `what` as passed, or as failed, which is said at the end."""
        self.passed += ok
        self.failed += not ok
        self.faults += [] if ok else [what]

    def add_junit(self, path, build):
        """Counts the test cases of Meson's report on a build, each TAP line for itself."""
        for suite in ElementTree.parse(path).getroot().iter("testsuite"):
            before = self.failed
            said = reasons(suite.findtext("system-out") or "")
            for case in suite.iter("testcase"):
                if case.find("skipped") is not None:
                    self.skipped += 1
                    continue
                ok = case.find("failure") is None and case.find("error") is None
                self.add(ok, ": ".join([build, suite.get("name"), case.get("name"), *said.get(case.get("name"), [])[:3]]))
            # A program that ended early prints its reason last; Meson counts none of its cases as failed.
            printed = (suite.findtext("system-err") or "").strip().splitlines()
            if printed and printed[-1].startswith("(test program exited"):
                self.faults += [f"{build}: {suite.get('name')}: {line}" for line in printed[-6:] if line]
                self.failed += self.failed == before

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
    count.add_junit(os.path.join(ROOT, build, "meson-logs", "testlog.junit.xml"), build)
    if not run_ok and count.failed == before:
        count.add(False, f"{build}: a test ran out of time, see {build}/meson-logs/testlog.txt")


def build_and_test(name, jobs, count):
    folder, compiler, options, arguments, variables = BUILDS[name]
    env = dict(os.environ, CC=compiler, **SANITIZERS, **variables)
    if is_built(folder, options, [], env, jobs):
        run_tests(folder, arguments, env, jobs, count)
    else:
        count.add(False, f"{folder} cannot be built")


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
        count.add(False, f"build-{name} cannot be built")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", choices=ALL, metavar="NAME", help="one of " + ", ".join(ALL))
    parser.add_argument("--more", action="store_true", help="slow tests, sanitizers and clang-tidy, too")
    parser.add_argument("--all", action="store_true", help="the same, the thread sanitizer, and builds for arm64 and musl")
    parser.add_argument("--record", metavar="FILE", help="write the counts as JSON")
    args = parser.parse_args()
    count = Count()
    if args.all:
        os.environ["LIGHTNET_TEST_ALL"] = "1"
    for name in [args.only] if args.only else ALL if args.all else MORE if args.more else FAST:
        start = time.time()
        print(f"== {name}", flush=True)
        if name in BUILDS:
            build_and_test(name, args.jobs, count)
        elif name in CROSS:
            build_and_cross(name, args.jobs, count)
        else:
            count.add(run_quietly(CHECKS[name]), name)
        print(f"   {time.time() - start:.0f} s, so far {count}", flush=True)
    for fault in count.faults:
        print(f"failed: {fault}")
    if args.record:
        with open(args.record, "w", encoding="utf-8") as file:
            file.write(f'{{"passed": {count.passed}, "failed": {count.failed}, "skipped": {count.skipped}}}\n')
    print(count)
    return 1 if count.failed or not count.passed else 0


if __name__ == "__main__":
    sys.exit(main())
