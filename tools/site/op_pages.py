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
    """[(architecture, section)]"""
    for section in re.split(r"^(?=## )", text, flags=re.M)[1:]:
        found = re.search(r"^Architecture `(\w+)`", section, re.M)
        if not found:
            raise ValueError(f"a section without an architecture: {section.splitlines()[0]}")
        section = re.sub(r"^Architecture `\w+`\. Described", "Described", section, flags=re.M)
        yield found[1], re.sub(r"^Architecture `\w+`, has side effects", "Has side effects", section, flags=re.M)


def front_matter(description):
    return f'---\nmyst:\n  html_meta:\n    description: "{description}"\n---\n\n'


def pages(root):
    """{path: text} of all pages."""
    folder = os.path.join(root, "lightnet/arch")
    files = sorted(os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names
                   if name.endswith(".op"))
    done = subprocess.run([sys.executable, os.path.join(root, "lightnet/gen/opgen.py"), "--docs", *files],
                          check=True, capture_output=True, text=True)
    by_arch = {}
    for arch, section in sections_of(done.stdout):
        by_arch.setdefault(arch, []).append(section.rstrip("\n") + "\n")
    made, rows, toc = {}, "", ""
    for arch in sorted(by_arch, key=list(TITLES).index):
        title, summary = TITLES[arch]
        made[f"reference/operators/{arch}.md"] = (
            front_matter(summary) + f"# {title}\n\n" + INTRODUCTION.format(summary=summary, arch=arch)
            + "\n".join(sorted(by_arch[arch])))
        rows += f"| [{title}]({arch}.md) | {len(by_arch[arch])} |\n"
        toc += f"{arch}\n"
    made["reference/operators/index.md"] = (
        front_matter("Reference of LightNet's operators: inputs, outputs, parameters.") +
        "# Operators\n\nLightNet's own operators, from their descriptions. Pages of formats list what "
        "LightNet reads: [ONNX](/docs/onnx-domains.md), [NNVM and MXNet](/docs/nnvm-operators.md).\n\n"
        f"| page | operators |\n|---|---|\n{rows}\n```{{toctree}}\n:hidden:\n\n{toc}```\n")
    return made
