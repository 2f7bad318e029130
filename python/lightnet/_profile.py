# SPDX-License-Identifier: Apache-2.0
"""The times of runs as Chrome traces, which chrome://tracing and Perfetto show."""
from __future__ import annotations

import itertools
import json
import os
import threading
import time
from typing import Any, Dict, List, NamedTuple, Tuple

Rows = List[Tuple[str, str, int]]  # (name, type, ns) of each operator


class Run(NamedTuple):
    """The operators of a run."""

    start: int   # ns, of time.perf_counter_ns
    thread: int  # its number
    rows: Rows


MAX_EVENTS = 1_000_000  # of a profile, as in onnxruntime


class Profile:
    """The runs since it began, up to MAX_EVENTS operators; later runs are left out. Several threads may add runs at the same
    time."""

    def __init__(self) -> None:
        self.start = time.perf_counter_ns()
        self._runs: List[Run] = []
        self._room = MAX_EVENTS

    def add(self, start: int, rows: Rows) -> None:
        """Adds a run that began at `start`, if there is room for it."""
        if len(rows) > self._room:
            self._room = 0
            return
        self._room -= len(rows)
        self._runs.append(Run(start, threading.get_native_id(), rows))

    def write(self, prefix: str) -> str:
        """Writes a new file PREFIX + date, time and process. Returns its name."""
        base = f"{prefix}{time.strftime('%Y-%m-%d_%H-%M-%S')}_{os.getpid()}"
        runs = list(self._runs)
        for i in itertools.count():
            path = f"{base}_{i}.json" if i else f"{base}.json"
            try:
                with open(path, "x", encoding="utf-8") as file:
                    json.dump(trace_of(runs, self.start), file)
                return path
            except FileExistsError:
                continue
        raise AssertionError


def shortest(session: Any, max_runs: int = 20, seconds: float = 0.5) -> Rows:
    """The operators of a run with bound inputs, each with its shortest time in several runs."""
    end = time.perf_counter() + seconds
    best: Rows = []
    for _ in range(max_runs):
        rows: Rows = []
        session.run_bound(rows)
        same = [row[:2] for row in rows] == [row[:2] for row in best]  # not if the session has chosen another program
        best = [min(pair, key=lambda row: row[2]) for pair in zip(best, rows)] if same else rows
        if time.perf_counter() >= end:
            break
    return best


def trace_of(runs: List[Run], origin: int) -> List[Dict[str, Any]]:
    """The trace, a list of events as onnxruntime writes them; times count from `origin`."""
    events, process = [], os.getpid()
    for run in runs:
        at = run.start - origin
        for name, kind, ns in run.rows:
            events.append({"name": _valid(name) + "_kernel_time", "cat": "Node", "ph": "X", "pid": process, "tid": run.thread,
                           "ts": at / 1000, "dur": ns / 1000,
                           "args": {"op_name": kind, "node_name": _valid(name), "provider": "CPUExecutionProvider"}})
            at += ns
    return events


def _valid(name: str) -> str:
    """The name, where bytes that are not UTF-8 become question marks."""
    return name.encode("utf-8", "replace").decode("utf-8")
