# SPDX-License-Identifier: Apache-2.0
"""The reference of operators, by architecture, as ln-opgen writes it from their descriptions."""
import os
import re
import subprocess
import sys

TITLES = {
    "none": ("Operators of models", "Operators in models, before LightNet chooses kernels for a target."),
    "cpu": ("Operators of the target cpu", "Operators that rewrite rules choose for CPUs."),
    "cuda": ("Operators of the target cuda", "Operators that rewrite rules choose for NVIDIA GPUs."),
    "dnnl": ("Operators of the target dnnl", "Operators that rewrite rules choose for oneDNN."),
}
INTRODUCTION = """\
{summary} The text of the tables is that of the descriptions, `lightnet/arch/{arch}/*.op`.
[Operator descriptions](/docs/operator-descriptions.md) explains types and properties;
`lightnet ops OPTYPE` prints the same.

"""


def sections_of(text):
    """[(architecture, name of its description, section)]"""
    for section in re.split(r"^(?=## )", text, flags=re.M)[1:]:
        found = re.search(r"^Architecture `(\w+)`.*?Described in `(\w+)\.op`", section, re.M)
        if not found:
            raise ValueError(f"a section without an architecture: {section.splitlines()[0]}")
        section = re.sub(r"^Architecture `\w+`\. Described", "Described", section, flags=re.M)
        yield found[1], found[2], re.sub(r"^Architecture `\w+`, has side effects", "Has side effects", section, flags=re.M)


def front_matter(description):
    quoted = description.replace("\\", "").replace('"', "'")
    return f'---\nmyst:\n  html_meta:\n    description: "{quoted}"\n---\n\n'


def summaries(files):
    """{name of a description: the first sentence of its comment}; those of models come first."""
    found = {}
    for path in files:
        with open(path, encoding="utf-8") as file:
            comment = re.search(r"\A(?://.*\n)+", file.read())[0]
        text = " ".join(line[2:].strip() for line in comment.splitlines()[1:])
        found.setdefault(os.path.basename(path)[:-len(".op")], re.match(r".*?[.:](?= |$)|.*", text)[0].rstrip(".:"))
    return found


def toctree(names):
    return "\n```{toctree}\n:hidden:\n\n" + "".join(f"{name}\n" for name in names) + "```\n"


def arch_pages(arch, by_file, about):
    """The pages of an architecture, one for each description, and that which lists them."""
    title, summary = TITLES[arch]
    made, rows = {}, ""
    for name, sections in sorted(by_file.items()):
        operators = ", ".join(f"`{section.split()[1]}`" for section in sorted(sections))
        made[f"reference/operators/{arch}/{name}.md"] = (
            front_matter(f"{about[name]}: {title.lower()}.") + f"# {arch}: {name}\n\n{about[name]}.\n\n"
            + "\n".join(sorted(sections)))
        rows += f"| [{name}]({arch}/{name}.md) | {about[name]} | {operators} |\n"
    made[f"reference/operators/{arch}.md"] = (
        front_matter(summary) + f"# {title}\n\n" + INTRODUCTION.format(summary=summary, arch=arch)
        + f"| page | content | operators |\n|---|---|---|\n{rows}" + toctree(f"{arch}/{name}" for name in sorted(by_file)))
    return made


def pages(root):
    """{path: text} of all pages."""
    folder = os.path.join(root, "lightnet/arch")
    files = sorted((os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names
                    if name.endswith(".op")), key=lambda path: ("/none/" not in path, path))
    done = subprocess.run([sys.executable, os.path.join(root, "lightnet/gen/opgen.py"), "--docs", *files],
                          check=True, capture_output=True, text=True)
    by_arch = {}
    for arch, name, section in sections_of(done.stdout):
        # An arrow of one character has no hyphen to break at.
        by_arch.setdefault(arch, {}).setdefault(name, []).append(section.replace(" -> ", " \u2192 ").rstrip("\n") + "\n")
    made, rows, about = {}, "", summaries(files)
    for arch in sorted(by_arch, key=list(TITLES).index):
        made.update(arch_pages(arch, by_arch[arch], about))
        rows += f"| [{TITLES[arch][0]}]({arch}.md) | {sum(map(len, by_arch[arch].values()))} |\n"
    made["reference/operators/index.md"] = (
        front_matter("Reference of LightNet's operators: inputs, outputs, parameters.") +
        "# Operators\n\nLightNet's own operators, from their descriptions. Pages of formats list what "
        "LightNet reads: [ONNX](/docs/onnx-domains.md), [NNVM and MXNet](/docs/nnvm-operators.md).\n\n"
        f"| page | operators |\n|---|---|\n{rows}" + toctree(sorted(by_arch, key=list(TITLES).index)))
    return made
