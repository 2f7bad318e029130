#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: deadlines.py LIGHTNET all|quick [WORD...]. The time limit reaches every loop: each operator and each reader gets input that
takes long, and ends within twice the limit plus 0.2 s of processor time. With words, only rows whose names contain one.

A command uses one thread, so that its processor time is about the time that passes on a machine without other work. The limit must
stop the row's operator itself: where it ends before, or where the limit stops what makes its input, other limits are tried, at most
TRIES. An operator that no limit stops polls nothing, and its row fails, unless the row says why it cannot be slow.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
import slow_operators
import slow_readers
from tap import Tap

LIMIT = 1  # seconds, the first that is tried
TRIES = 12
MEMORY = 2**30  # bytes that the tensors of a row may take
SHORTENED = "stopped at the time limit"
# Rows of the quick scope: those that exceeded the limit before.
QUICK = ("maxpool2d", "topk", "convnd", "roi_maxpool", "npz")

# A process of its own for each, whose children are counted alone.
MEASURE = """import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=60)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, usage.ru_utime + usage.ru_stime)"""


def measured(command):
    """Exit status, seconds of processor time, standard error."""
    done = subprocess.run([sys.executable, "-S", "-c", MEASURE, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", check=False)
    if done.returncode:
        return None, float("inf"), done.stderr[-500:]
    status, seconds = done.stdout.split()
    return int(status), float(seconds), done.stderr


def faults_of(status, seconds, error, limit):
    """Late, or ended by a signal."""
    if seconds > 2 * limit + 0.2:
        yield f"{seconds:.2f} s, expected at most {2 * limit + 0.2} s: {error}"
    if status not in (0, 1):
        yield f"exit status {status}: {error}"


def stopped_operator(error):
    """The name of the operator that the limit stopped, or None."""
    found = re.search(f"operator '([^']*)' \\([^)]*\\): {SHORTENED}", error)
    return found and found[1]


def search_faults(command, doc, reason):
    """Tries limits until one stops the operator of the row, which is the last of the document."""
    low, high, limit = 0, None, LIMIT
    for _ in range(TRIES):
        status, seconds, error = measured([*command, "--max-seconds", str(limit)])
        faults = list(faults_of(status, seconds, error, limit))
        if status == 1 and SHORTENED not in error:
            faults.append(f"another error than the time limit: {error}")
        name, tried = stopped_operator(error), limit
        is_row = name is not None and name not in doc.made()
        may_end = status == 0 and bool(reason)
        if faults or is_row or may_end:
            return faults
        low, high = (low, limit) if status == 0 else (limit, high)
        if high and high - low < high / 10:  # other programs took part of the time
            low, high = low * 0.7, high * 1.4
        limit = (low + high) / 2 if high else 2 * limit
    return [f"no limit stopped it, the last {tried} s, while its input took {low} s: poll in its loops, or make its input larger: {error}"]


def operator_faults(lightnet, row):
    with tempfile.TemporaryDirectory(prefix="lightnet-") as folder:
        path = os.path.join(folder, "slow.json")
        doc, text = slow_operators.model_of(row)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        command = [lightnet, "bench", path, "--seconds", "0", "--threads", "1", "--max-memory", str(MEMORY)]
        return search_faults(command, doc, slow_operators.reason_of(row))


def reader_faults(lightnet, row):
    """Of any file, a result or a message: other errors than the limit, too."""
    _, make, command = row
    with tempfile.TemporaryDirectory(prefix="lightnet-") as folder:
        for name, content in make().items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        command = [os.path.join(folder, word) if os.path.exists(os.path.join(folder, word)) else word for word in command]
        return list(faults_of(*measured([lightnet, *command, "--threads", "1", "--max-seconds", str(LIMIT)]), LIMIT))


def missing_operators(lightnet):
    """Abstract operators without a row."""
    printed = subprocess.run([lightnet, "ops", "--json"], check=True, capture_output=True, text=True).stdout
    known = {row[0] for row in slow_operators.ROWS} | set(slow_operators.WITHOUT_WORK)
    return [f"operator {each['type']} has no row in slow_operators.py" for each in json.loads(printed)["architectures"][0]["operators"]
            if each["type"] not in known]


def main(lightnet, scope, *words):
    tap = Tap()
    words = words or (QUICK if scope == "quick" else ("",))
    rows = [(f"{row[0]} {i}", row) for i, row in enumerate(slow_operators.ROWS) if any(word in row[0] for word in words)]
    readers = [row for row in slow_readers.READERS if any(word in row[0] for word in words)]
    tap.check("each operator has a row", missing_operators(lightnet))
    tap.check("words select rows", [word for word in words if not any(word in row[0] for row in (*slow_operators.ROWS, *readers))])
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = [(name, pool.submit(operator_faults, lightnet, row)) for name, row in rows]
        results += [(row[0], pool.submit(reader_faults, lightnet, row)) for row in readers]
        for name, result in results:
            tap.check(name, result.result())
    tap.end()


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), *sys.argv[2:])
