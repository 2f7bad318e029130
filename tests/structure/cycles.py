#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: cycles.py BUILD. Files of the libraries and the command that call each other in a circle are those that cycles.txt explains,
and no part calls one that it may not use (docs/dev/architecture.md).

A file calls the symbols that its object leaves undefined and another one defines.
"""
import fnmatch
import os
import sys

import layers
from tap import Tap, run, text_of, tracked

EXPLAINED = "tests/structure/cycles.txt"


def objects(build):
    """Paths of the objects of all static libraries, and of the command."""
    for folder, _, names in os.walk(build):
        if folder.endswith((".a.p", "cli/lightnet.p")):
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".c.o"))


def sources():
    """{file name: path}; no two files have one name."""
    return {os.path.basename(path): path for path in tracked("*.c") if not path.endswith("_test.c")}


def source_of(path, known):
    """Meson names an object after the path of its source, with underscores."""
    words = os.path.basename(path)[:-len(".o")].split("_")
    return next((known[name] for name in ("_".join(words[i:]) for i in range(len(words))) if name in known), None)


def symbols(paths):
    """{path: (symbols that the object defines, symbols that it needs)}"""
    status, output = run(["nm", "-A", "-P", "-g", *paths])
    assert status == 0, output
    found = {path: (set(), set()) for path in paths}
    for line in output.splitlines():
        path, name, kind = line.split()[:3]
        found[path.rstrip(":")][kind == "U"].add(name)
    return found


def calls(build):
    """{source: sources that it calls}"""
    known = sources()
    tables = {}
    for path, found in symbols(list(objects(build))).items():
        source = source_of(path, known)
        if source:
            for old, new in zip(tables.setdefault(source, (set(), set())), found):
                old |= new
    makers = {name: source for source, (defined, _) in tables.items() for name in defined}
    return {source: {makers[name] for name in needed if name in makers} - {source} for source, (_, needed) in tables.items()}


def reach(graph, start):
    """All that can be reached from `start`."""
    seen, todo = set(), [start]
    while todo:
        for called in graph[todo.pop()] - seen:
            seen.add(called)
            todo.append(called)
    return seen


def circles(graph):
    """Groups of sources each of which reaches all others of its group."""
    ahead = {source: reach(graph, source) for source in graph}
    groups = {frozenset(other for other in ahead[source] if source in ahead[other]) for source in graph if source in ahead[source]}
    return sorted(sorted(group) for group in groups)


def matches(group, patterns):
    return all(any(fnmatch.fnmatch(path, pattern) for pattern in patterns) for path in group)


def explained(graph):
    """The patterns of each line, without those of files that the build leaves out."""
    left_out = set(sources().values()) - set(graph)
    lines = [line.split(":")[0].split() for line in text_of(EXPLAINED).splitlines() if line and not line.startswith("#")]
    return [patterns for patterns in lines if not any(matches([path], patterns) for path in left_out)]


def faults(groups, lines):
    unexplained = [" ".join(group) for group in groups if not any(matches(group, patterns) for patterns in lines)]
    stale = [f"{EXPLAINED}: nothing is like this any more: {' '.join(patterns)}"
             for patterns in lines if not any(matches(group, patterns) for group in groups)]
    return unexplained + stale


def upward(graph):
    """Calls from a part into one that its row does not name."""
    table = layers.read_table()
    below = {part: layers.reach(part, table) for part in table}
    for source in sorted(graph):
        part = layers.part_of(source, table)
        if part in ("cli", "serve"): # they have public headers only, and are linked with the exported symbols
            continue
        for called in sorted(graph[source]):
            target = layers.part_of(called, table)
            if part and target and target not in below[part]:
                yield f"{source} calls {called}: {part} may not use {target}"


def main():
    tap = Tap()
    graph = calls(os.path.abspath(sys.argv[1]))
    n_cli = sum(source.startswith("cli/") for source in graph)
    tap.check("the_objects_of_the_libraries_are_found", [] if len(graph) > 300 and n_cli > 40 else [f"{len(graph)} sources, {n_cli} of the command"])
    lines = explained(graph)
    tap.check("files_that_call_each_other_in_a_circle_are_explained", faults(circles(graph), lines))
    tap.check("calls_point_down", upward(graph))
    up = {"lightnet/ir/ln_op.c": {"lightnet/run/ln_run.c"}}
    tap.check("a_call_upwards_is_noticed", [] if list(upward(up)) else ["it is not"])
    graph["a.c"], graph["b.c"] = {"b.c"}, {"a.c"}
    tap.check("a_new_circle_is_noticed", [] if faults(circles(graph), lines) == ["a.c b.c"] else ["it is not"])
    tap.end()


if __name__ == "__main__":
    main()
