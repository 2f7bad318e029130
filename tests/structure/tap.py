# SPDX-License-Identifier: Apache-2.0
"""Helpers of the structure tests: results in TAP, and the files of the tree."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Tap:
    """Counts and prints results; `end` prints the plan and leaves."""

    def __init__(self):
        self.n = self.failed = 0

    def check(self, name, faults):
        """Passes when `faults`, a list of errors with locations, is empty."""
        faults = list(faults)
        self.n += 1
        self.failed += bool(faults)
        print(f"{'not ok' if faults else 'ok'} {self.n} - {name}")
        for fault in faults:
            print("# " + fault.replace("\n", "\n# "))
        sys.stdout.flush()

    def skip(self, name, reason):
        self.n += 1
        print(f"ok {self.n} - {name} # SKIP {reason}", flush=True)

    def end(self):
        print(f"1..{self.n}")
        sys.exit(self.failed > 0)


def tracked(*patterns):
    """Paths, from the root, of the files that belong to the tree and match a git pattern, new ones included."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted({path for path in listed if os.path.exists(os.path.join(ROOT, path))})


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def run(command, **options):
    """Runs a command; returns its exit status and its output, both streams together."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", **options)
    return done.returncode, done.stdout


def faults_of(command, **options):
    """No line when the command succeeds, else its output."""
    status, output = run(command, **options)
    return [] if status == 0 else [f"exit status {status}: {' '.join(map(str, command))}", *output.splitlines()[-30:]]


def installer(build, prefix):
    """The command that installs a build, which waits while another test installs it: `meson install` writes its log there."""
    return ["flock", os.path.join(build, "build.ninja"), "tools/install", build, prefix]


def pkg_config_env(prefix):
    """The environment in which pkg-config finds the installation in `prefix`, and programs do not find its libraries."""
    env = dict(os.environ, PKG_CONFIG_PATH=os.path.join(prefix, "lib", "pkgconfig"))
    env.pop("LD_LIBRARY_PATH", None)
    return env
