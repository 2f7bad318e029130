#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: abi.py BUILD. The structs and constants of the public headers are as abi.txt has them for this LN_PLUGIN_ABI.

Plug-ins are built against them. To change one, increase LN_PLUGIN_ABI in ln_plugin.h; LN_UPDATE=1 abi.py BUILD then writes
abi.txt anew. New structs and constants break no plug-in: they keep the number, and the same command adds them. Layouts are
those of machines with 64-bit pointers.
"""
import os
import re
import sys
import tempfile

from headers import include_options, public_headers
from tap import ROOT, Tap, faults_of, run, text_of

GOLDEN = "tests/structure/abi.txt"
CONSTANTS = "constants"


def without_nested(body):
    """A struct's body without inner braces, but with the fields of unions without a name."""
    body = re.sub(r"\bunion\s*\{([^{}]*)\}\s*;", r"\1", body)
    while "{" in body:
        body = re.sub(r"\{[^{}]*\}", " ", body)
    return body


def name_of_field(declarator):
    """name, *name, name[2], (*name)(int, int), name : 1 as "name:1", or None for nothing."""
    bits = re.search(r"(\w+)\s*:\s*(\d+)$", declarator.strip())
    if bits:
        return f"{bits[1]}:{bits[2]}"
    found = re.search(r"\(\s*\*\s*(\w+)\s*\)", declarator) or re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", declarator.strip())
    return found and found[1]


def fields(body):
    names = []
    for declaration in without_nested(body).split(";"):
        # Commas within parentheses separate parameters, others declarators.
        outer = re.sub(r"\)\s*\([^()]*\)", ")", declaration)
        names += [name for name in map(name_of_field, outer.split(",")) if name]
    return names


def preprocessed(build):
    """The lines that include the public headers, and their content."""
    includes = "".join(f"#include <{header}>\n" for header in public_headers())
    with tempfile.TemporaryDirectory(prefix="lightnet-abi-") as folder:
        unit = os.path.join(folder, "unit.c")
        with open(unit, "w", encoding="utf-8") as file:
            file.write(includes)
        status, text = run(["gcc", "-E", "-std=c11", *include_options(build), unit])
    assert status == 0, text
    ours = ""
    for piece in re.split(r"^# \d+ ", text, flags=re.M)[1:]:
        place, _, lines = piece.partition("\n")
        if re.search(r"/include/(lightnet|tensorlight)/", place):
            ours += lines
    return includes, ours


def structs(ours):
    """{type: its fields} of all structs."""
    found = {}
    for match in re.finditer(r"\bstruct\s+(\w+)\s*\{", ours):
        depth, end = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(ours[end], 0)
            end += 1
        found[match[1]] = fields(ours[match.end():end - 1])
    return found


def constants(ours):
    """The names of all enumerators but those that are counts."""
    names = [name for body in re.findall(r"\benum\b[^{};()]*\{([^}]*)\}", ours) for name in re.findall(r"(?:^|,)\s*(\w+)", body)]
    return [name for name in names if not name.endswith("_SIZE")]


def layouts(build, *options):
    """The lines of abi.txt, as the compiler has the structs and constants; or its message."""
    includes, ours = preprocessed(build)
    found = structs(ours)
    prints = ['    printf("LN_PLUGIN_ABI %d\\n", LN_PLUGIN_ABI);']
    for name in sorted(found):
        prints.append(f'    printf("\\n{name} %zu\\n", sizeof(struct {name}));')
        prints += [f'    printf("    bits {field}\\n");' if ":" in field else
                   f'    printf("    %zu %zu {field}\\n", offsetof(struct {name}, {field}), sizeof(((struct {name} *)0)->{field}));'
                   for field in found[name]]
    prints.append(f'    printf("\\n{CONSTANTS}\\n");')
    prints += [f'    printf("    %lld {name}\\n", (long long){name});' for name in sorted(constants(ours))]
    source = "#include <stdio.h>\n#include <stddef.h>\n" + includes + "int main(void)\n{\n" + "\n".join(prints) + "\n}\n"
    with tempfile.TemporaryDirectory(prefix="lightnet-abi-") as folder:
        unit, program = os.path.join(folder, "unit.c"), os.path.join(folder, "program")
        with open(unit, "w", encoding="utf-8") as file:
            file.write(source)
        faults = faults_of(["gcc", "-std=c11", *options, *include_options(build), unit, "-o", program])
        return (None, faults) if faults else (run([program])[1], [])


def by_struct(text):
    return {part.split()[0]: part for part in text.strip().split("\n\n")}


def number_of(text):
    return text.splitlines()[0]


def constants_of(text):
    """{name: value}"""
    return {name: value for value, name in map(str.split, by_struct(text).get(CONSTANTS, "").splitlines()[1:])}


def layouts_of(text):
    """{struct: its lines}"""
    return {name: part for name, part in by_struct(text).items() if name not in ("LN_PLUGIN_ABI", CONSTANTS)}


def differences(golden, now):
    """Changes that break plug-ins: changed or removed structs and constants."""
    new, values = layouts_of(now), constants_of(now)
    changed = [f"struct {name} differs from {GOLDEN}" if name in new else f"struct {name} is gone"
               for name, part in sorted(layouts_of(golden).items()) if new.get(name) != part]
    return changed + [f"{name} is {values.get(name, 'gone')}, {GOLDEN} has {value}"
                      for name, value in constants_of(golden).items() if values.get(name) != value]


def additions(golden, now):
    """Changes that do not break plug-ins: new names."""
    return sorted({**layouts_of(now), **constants_of(now)}.keys() - {**layouts_of(golden), **constants_of(golden)}.keys())


def faults(golden, now):
    changed, same_number = differences(golden, now), number_of(golden) == number_of(now)
    anew = "LN_UPDATE=1 tests/structure/abi.py BUILD writes it anew"
    if changed and same_number:
        return changed + ["increase LN_PLUGIN_ABI in lightnet/include/lightnet/ln_plugin.h: plug-ins must be built anew"]
    if not same_number:
        return changed + [f"{GOLDEN} is for {number_of(golden)}: {anew}"]
    return [f"{GOLDEN} lacks {name}: {anew}" for name in additions(golden, now)]


def may_update(now):
    if not os.path.exists(os.path.join(ROOT, GOLDEN)):
        return True
    golden = text_of(GOLDEN)
    return number_of(now) != number_of(golden) or not differences(golden, now)


def is_noticed(now, pattern, replacement):
    changed = re.sub(pattern, replacement, now, count=1)
    return [] if changed != now and faults(now, changed) else ["it is not"]


def keeps_number(now, old, new):
    changed = now.replace(old, new, 1)
    return differences(now, changed) if changed != now and additions(now, changed) else ["it is not an addition"]


def main():
    tap = Tap()
    now, failed = layouts(os.path.abspath(sys.argv[1]))
    is_whole = now and len(by_struct(now)) > 40 and len(constants_of(now)) > 200
    tap.check("layouts_of_public_structs_are_known", failed or ([] if is_whole else [now]))
    if now and os.environ.get("LN_UPDATE") and may_update(now):
        with open(os.path.join(ROOT, GOLDEN), "w", encoding="utf-8") as file:
            file.write(now)
    if now:
        tap.check("what_plugins_are_built_against_changes_with_its_number_only", faults(text_of(GOLDEN), now))
        tap.check("a_program_changes_no_layout", differences(now, layouts(os.path.abspath(sys.argv[1]), "-DLN_CUDA")[0]))
        tap.check("a_field_that_has_moved_is_noticed", is_noticed(now, r"\n    \d+ (\d+) ndim\n", r"\n    4 \1 ndim\n"))
        tap.check("a_constant_of_another_value_is_noticed", is_noticed(now, r"\n    \d+ TL_INT8\n", r"\n    99 TL_INT8\n"))
        tap.check("a_constant_that_is_gone_is_noticed", is_noticed(now, r"\n    \d+ TL_INT8\n", r"\n"))
        tap.check("a_constant_that_is_new_is_noticed", is_noticed(now, r"\n    0 TL_DOUBLE\n", r"\n    0 TL_DOUBLE\n    77 TL_NEW\n"))
        tap.check("a_struct_that_is_gone_is_noticed", is_noticed(now, r"\nln_arch \d+\n(    .*\n)+", ""))
        tap.check("a_new_struct_keeps_the_number", keeps_number(now, "\nln_arch ", "\naa_new 8\n    0 8 field\n\nln_arch "))
    tap.end()


if __name__ == "__main__":
    main()
