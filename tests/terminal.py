#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: terminal.py LIGHTNET. Colors on a terminal, and the completion of shells. Speaks TAP."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "structure"))
from tap import Tap  # noqa: E402
from terminals import run_on_terminal  # noqa: E402

LIGHTNET = os.path.abspath(sys.argv[1])
RED, BOLD, END = b"\x1b[1;31m", b"\x1b[1m", b"\x1b[0m"

# The words that bash offers for a line with the cursor at its end, one per line.
COMPLETE = """
source lightnet.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_lightnet
printf '%s\\n' "${COMPREPLY[@]}"
"""


def on_terminal(*args, **variables):
    """What the command prints to a terminal, which is its standard output and error."""
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    env = {**inherited, "TERM": "xterm", **variables}
    return run_on_terminal([LIGHTNET, *args], "stdout", "stderr", env=env)[1]


def in_pipe(*args):
    done = subprocess.run([LIGHTNET, *args], stdin=subprocess.DEVNULL, capture_output=True, env=dict(os.environ, TERM="xterm"),
                          check=False)
    return done.stdout + done.stderr


def check_colors(tap):
    error = RED + b"error:" + END
    missing = ("show", "missing.json")
    cases = [
        ("an error is red on a terminal", on_terminal(*missing), error, True),
        ("an error in the options is red, too", on_terminal("show", "--frobnicate"), error, True),
        ("a heading is bold on a terminal", on_terminal("show", "--help"), BOLD + b"usage:" + END, True),
        ("a pipe has no colors", in_pipe(*missing), b"\x1b", False),
        ("--color always colors a pipe", in_pipe(*missing, "--color", "always"), error, True),
        ("--color=always colors errors in other options", in_pipe("show", "--frobnicate", "--color=always"), error, True),
        ("--no-color colors nothing", on_terminal(*missing, "--no-color"), b"\x1b", False),
        ("--color never colors nothing", on_terminal(*missing, "--color", "never"), b"\x1b", False),
        ("NO_COLOR colors nothing", on_terminal(*missing, NO_COLOR="1"), b"\x1b", False),
        ("an empty NO_COLOR has no effect", on_terminal(*missing, NO_COLOR=""), error, True),
        ("a dumb terminal has no colors", on_terminal(*missing, TERM="dumb"), b"\x1b", False),
    ]
    for name, printed, text, is_there in cases:
        tap.check(name, [] if (text in printed) == is_there else [repr(printed)])



def completed(*words):
    env = dict(os.environ, PATH=os.path.dirname(LIGHTNET) + os.pathsep + os.environ["PATH"])
    done = subprocess.run(["bash", "-c", COMPLETE, "bash", *words], capture_output=True, text=True, env=env, check=True)
    return set(done.stdout.split("\n")) - {""}


def check_bash(tap):
    for name in ("model.onnx", "model.json", "my model.onnx", "notes.txt", "photo.png"):
        with open(name, "w", encoding="utf-8"):
            pass
    os.mkdir("folder")
    rules = subprocess.run([LIGHTNET, "ops", "--rules"], capture_output=True, text=True, check=True).stdout
    rule = next(line.strip() for line in rules.splitlines() if line.startswith("  "))
    cases = [
        ("commands", ["lightnet", "com"], {"compile", "completion"}, set()),
        ("models and folders instead of a command", ["lightnet", ""], {"run", "model.onnx", "folder"}, {"notes.txt"}),
        ("files with spaces", ["lightnet", "my"], {"my model.onnx"}, set()),
        ("models behind a command", ["lightnet", "run", ""], {"model.onnx", "model.json", "folder"}, {"notes.txt", "run"}),
        ("options of a command", ["lightnet", "run", "--t"], {"--target", "--threads", "--top", "--tune"}, {"--trace"}),
        ("options of the short form", ["lightnet", "--comp"], {"--compile"}, {"--top"}),
        ("files of an input", ["lightnet", "run", "model.onnx", "-i", "ph"], {"photo.png"}, set()),
        ("files of a named input", ["lightnet", "run", "model.onnx", "-i", "x", "=", "ph"], {"photo.png"}, set()),
        ("the folder of --include", ["lightnet", "run", "--include", ""], {"folder"}, {"model.onnx"}),
        ("words of an option", ["lightnet", "run", "--layout", "n"], {"nchw", "nhwc"}, set()),
        ("words behind '='", ["lightnet", "run", "--layout", "="], {"nchw", "nhwc"}, set()),
        ("shells", ["lightnet", "completion", ""], {"bash", "zsh", "fish"}, {"model.onnx"}),
        ("commands of help", ["lightnet", "help", "ver"], {"verify", "version"}, set()),
        ("operators", ["lightnet", "ops", "relu"], {"relu"}, set()),
        ("rules", ["lightnet", "compile", "--disable-rule", ""], {rule}, {"model.onnx"}),
    ]
    for name, words, expected, unexpected in cases:
        got = completed(*words)
        tap.check(f"bash completes {name}", [f"{word} is missing in {sorted(got)[:20]}" for word in expected - got]
                  + [f"{word} is offered" for word in unexpected & got])


def check_scripts(tap):
    for shell in ("bash", "zsh", "fish"):
        script = f"lightnet.{shell}"
        with open(script, "wb") as file:
            file.write(subprocess.run([LIGHTNET, "completion", shell], capture_output=True, check=True).stdout)
        if not shutil.which(shell):
            tap.skip(f"{shell} parses its script", f"there is no {shell}")
            continue
        done = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
        tap.check(f"{shell} parses its script", [done.stderr] if done.returncode or done.stderr else [])
        if shell == "bash":
            check_bash(tap)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_colors(tap)
        check_scripts(tap)
        os.chdir("/")
    tap.end()


if __name__ == "__main__":
    main()
