# SPDX-License-Identifier: Apache-2.0
"""A command on a terminal, for tests of what it prints there."""
import os
import pty
import select
import subprocess

WAIT = 0.02  # seconds between looks whether the command has ended


def printed_by(process, terminal):
    """What a process prints to a terminal until it ends. The other end stays open meanwhile: a read that is about to wait when
    the last writer writes and closes it would fail, and what was written would be lost."""
    printed = b""
    while True:
        has_ended = process.poll() is not None
        if select.select([terminal], [], [], 0 if has_ended else WAIT)[0]:
            printed += os.read(terminal, 1 << 16)
        elif has_ended:
            return printed


def run_on_terminal(command, *streams, **options):
    """Runs a command whose `streams`, of "stdout" and "stderr", are a terminal; returns its exit status and what it printed
    there."""
    terminal, inner = pty.openpty()
    try:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, **dict.fromkeys(streams, inner), **options) as process:
            printed = printed_by(process, terminal)
        return process.returncode, printed
    finally:
        os.close(inner)
        os.close(terminal)
