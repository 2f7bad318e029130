#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""C names the types of operators by the generated constants, LN_OP_CONV2D, as a misspelled string compiles."""
import os
import re
import sys

from tap import ROOT, Tap, text_of, tracked

sys.path.insert(0, os.path.join(ROOT, "lightnet", "gen"))
import op_desc  # noqa: E402 (the path to it is set above)

# Names that are also attributes, options, keys of files, kinds of operators and families of detectors, and operators of NNVM in its front end.
WORDS = set("attention forward inverse nms pad quantize relu resize shape softmax source split zeros".split())
NNVM = set("cast concat conv2d flatten lrn matmul nms reshape sigmoid slice squeeze take tile topk transpose where".split())

# Where a string can be nothing but a type.
TYPE = re.compile(r'\b(?:LN_EMIT(?:_BEGIN)?|ln_emit_(?:begin|begin_parts|parts|simple)|ln_rule_(?:op|op_instead|may_end)'
                  r'|ln_op_(?:is|is_form_of|list_find_by_optype))\([^";]*"(\w+)"'
                  r'|\bln_nnvm_producer\([^;]*?, "(\w+)", |\boptype, "(\w+)"|\{"(\w+)", (?:write|place)_')


# The operators that nodes of ONNX become, as words of one string: for documentation.
SCHEMAS = "lightnet/front/onnx/ln_onnx_schemas.c"


def operators():
    return set(re.findall(r'\boptype: "(\w+)"', "".join(map(text_of, tracked("lightnet/arch/*.op")))))


def is_type(names, word):
    return word in names or re.sub("_(cpu|cuda|dnnl)$", "", word) in names


def strings(path, names):
    """Line and text of each string that is the name of an operator."""
    text = re.sub(r"//.*|/\*\*(?:.|\n)*?\*/", lambda m: re.sub(".", " ", m[0]), text_of(path).replace('\\"', '"'))
    words = WORDS | NNVM if path.startswith("lightnet/front/nnvm/") else WORDS
    found = {m.start(1): m[1] for m in re.finditer(r'"(\w+)"', text) if m[1] not in words and not path.endswith(".opt")}
    found.update({m.start(m.lastindex): m[m.lastindex] for m in TYPE.finditer(text)})
    return sorted((text.count("\n", 0, at) + 1, name) for at, name in found.items() if is_type(names, name))


def lists(path):
    """Line and length of each list of types alone, as of an initializer, or of the operands of one expression."""
    text = re.sub(r"//.*|/\*(?:.|\n)*?\*/|\"(?:\\\\.|[^\"\\\\])*\"", lambda m: re.sub(".", " ", m[0]), text_of(path))
    for m in re.finditer(r"\{[^{};]*\}|[^;{}]*;", text):
        n = len(set(re.findall(r"\bLN_OP_[A-Z0-9]+(?:_[A-Z0-9]+)*\b", m[0])))
        if n >= 4:
            yield text.count("\n", 0, m.start()) + 1, n


def descriptions():
    """The operators of all targets, as the generator completes them."""
    descs = op_desc.Descriptions()
    for path in tracked("lightnet/arch/*.op"):
        descs.read(os.path.join(ROOT, path), own=True)
    descs.check()
    return descs


def kind_faults(descs):
    """Each operator has a kind, that of the abstract operator which it computes on a target."""
    for op in descs.generated():
        abstract = descs.find(op.optype.removesuffix(f"_{op.arch}"))
        if not op.kind:
            yield f"{op.node.file}:{op.node.line}: '{op.optype}' has no \"kind\", and no trait that implies one"
        elif abstract and op.kind != abstract.kind:
            yield f"{op.node.file}:{op.node.line}: '{op.optype}' is of kind {op.kind}, but '{abstract.optype}' {abstract.kind}"


def main():
    tap = Tap()
    names = operators()
    files = [path for path in tracked("lightnet/*.c", "lightnet/*.h", "lightnet/*.opt", "cli/*.c", "cli/*.h")
             if not re.search(r"_(test|check)\.[ch]$", path) and "/gen/" not in path and path != SCHEMAS]
    tap.check("there_are_operators_and_sources", [] if len(names) > 100 and len(files) > 400 else ["too few"])
    tap.check("types_of_operators_are_constants",
              (f'{path}:{line}: "{name}"; expected LN_OP_{name.upper()} of lightnet/ln_optypes.h'
               for path in files for line, name in strings(path, names)))
    tap.check("nodes_of_onnx_become_operators_that_exist",
              (f"{SCHEMAS}: '{name}' is no operator" for words in re.findall(r'"([a-z0-9_ ]*)"\}', text_of(SCHEMAS))
               for name in words.split() if name not in names))
    tap.check("no_list_of_types_is_outside_the_descriptions",
              (f"{path}:{line}: a list of {n} types; expected a trait of their descriptions (docs/operator-descriptions.md)"
               for path in files for line, n in lists(path)))
    descs = descriptions()
    targets = {op.arch for op in descs.generated()}
    tap.check("there_are_operators_of_all_targets", [] if targets == {"none", "cpu", "cuda", "dnnl"} else [str(targets)])
    tap.check("each_operator_has_a_kind", kind_faults(descs))
    tap.end()


if __name__ == "__main__":
    main()
