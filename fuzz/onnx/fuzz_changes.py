# SPDX-License-Identifier: Apache-2.0
"""Random changes of the models of fuzz_cases.py. Each change stays near what the standard allows: attributes have values that
some other model of the operator has, or that are near them, and sizes that are equal stay equal."""
import re

import numpy as np
from onnx import defs, helper

from fuzz_cases import CONVERTED, MAX_OPSET, TYPES

FLOATS = ["float16", "float32", "float64"]
INTEGERS = [name for name in TYPES if "int" in name]
SIZES = [1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 0]
ELEMENTS = 1 << 14  # of an array after a change
TEXTS = ["", "a", "1", "-0", "1e400", "NaN", "\u00e9", "\U0001f600", "a b", " "]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-45, 3e38, -65504.0, 1e300, 0.5, -1.5, 2.5, 1e-3]
# What a chain appends or puts before an input: operators of one input and output of the same type.
UNARY = ["Relu", "Neg", "Abs", "Sigmoid", "Tanh", "Exp", "Floor", "Sqrt", "Softplus", "Erf", "LeakyRelu", "HardSigmoid", "Sign",
         "Softmax", "LogSoftmax", "Transpose", "Identity", "Flatten", "GlobalMaxPool", "Ceil", "Round", "Reciprocal", "Elu"]
BINARY = ["Add", "Mul", "Sub", "Div", "Max", "Min"]


def schema_of(node, opsets):
    """The operator's schema, or None if the package onnx does not have it."""
    version = opsets.get(node.domain, 1)
    newest = {"": defs.onnx_opset_version(), "ai.onnx.ml": 3}.get(node.domain, 1)
    try:
        return defs.get_schema(node.op_type, min(version, newest), node.domain)
    except Exception:  # SchemaError, which is not exported
        return None


def spread(rng, array, shape):
    """An array of the shape with the elements of `array`, in random order."""
    size = int(np.prod(shape))
    if array.size == 0 and array.dtype == object:
        return np.full(shape, "", object)
    if array.size == 0:
        values = rng.uniform(-3, 3, size) if array.dtype.kind == "f" else rng.integers(0, 2, size)
        return values.astype(array.dtype).reshape(shape)
    return rng.permutation(np.resize(array.ravel(), size)).reshape(shape)


def is_small(shape):
    return np.prod([max(size, 1) for size in shape], dtype=float) <= ELEMENTS


def pick(rng, items):
    items = list(items)
    return items[rng.integers(len(items))]


def data_inputs(case):
    """Names of arrays that are not shapes, axes and the like."""
    return [name for name, array in case.arrays.items() if array.ndim > 1 or array.dtype.kind != "i" or array.size > 8] \
        or list(case.arrays)


# ---- shapes ----

def size(rng, case, pools):
    """All sizes of one value become another one."""
    sizes = sorted({size for name in data_inputs(case) for size in case.arrays[name].shape})
    if not sizes:
        return
    old, new = pick(rng, sizes), pick(rng, SIZES)
    for name in data_inputs(case):
        array = case.arrays[name]
        shape = [new if size == old else size for size in array.shape]
        if tuple(shape) != array.shape and is_small(shape):
            case.arrays[name] = spread(rng, array, shape)
    return f"sizes {old} become {new}"


def one_size(rng, case, pools):
    """One size of one array."""
    name = pick(rng, data_inputs(case))
    shape = list(case.arrays[name].shape)
    if not shape:
        return
    axis = rng.integers(len(shape))
    shape[axis] = pick(rng, [1, 1, *SIZES])
    if is_small(shape):
        case.arrays[name] = spread(rng, case.arrays[name], shape)
    return f"{name} gets the shape {shape}"


def rank(rng, case, pools):
    """One axis more or less at the front."""
    name = pick(rng, data_inputs(case))
    array = case.arrays[name]
    shape = list(array.shape[1:]) if array.ndim and rng.random() < 0.5 else [pick(rng, [1, 2, 3]), *array.shape]
    if is_small(shape):
        case.arrays[name] = spread(rng, array, shape)
    return f"{name} gets the shape {shape}"


def open_sizes(rng, case, pools):
    case.open_sizes = True
    return "open sizes"


# ---- attributes ----

# Attributes that make a tree of nodes, so that any other value makes none.
STRUCTURE = re.compile(r"(nodes|leaf|tree|class|target)_(treeids|nodeids|ids|modes|.*nodeids|.*ids|.*leafs|roots|featureids)$|membership")


def near(rng, value):
    """A value of the same kind."""
    if isinstance(value, list):
        if not value:
            return value
        made = list(value)
        made[rng.integers(len(made))] = near(rng, pick(rng, value))
        return made
    if isinstance(value, int):
        return int(value + pick(rng, [-1, 1, 1, 2])) if rng.random() < 0.7 else pick(rng, [0, 1, 2, 3, -1])
    if isinstance(value, float):
        return pick(rng, [0.0, 1.0, 0.5, -0.5, 2.0, 0.01, 1e-5, value * 2, -value, 3.75, float("inf"), float("-inf"), float("nan"), 1e30])
    return value


def defaults_of(schema):
    """{attribute: [its default]}, of those that are numbers or texts."""
    found = {} if schema is None else {key: each.default_value for key, each in schema.attributes.items()}
    return {key: [helper.get_attribute_value(value)] for key, value in found.items() if value.type in (1, 2, 3)}


def attribute(rng, case, pools):
    """An attribute gets the value of another model, or one near its own, or is left out."""
    node = case.main if rng.random() < 0.8 else pick(rng, case.nodes)
    schema = schema_of(node, case.opsets)
    pool = defaults_of(schema) | pools.get((node.domain, node.op_type), {})
    pool = {key: given for key, given in pool.items() if not STRUCTURE.match(key)}
    if not pool:
        return
    key = pick(rng, pool)
    found = {each.name: each for each in node.attribute}
    if schema is not None and key not in schema.attributes and case.opsets.get("", 1) <= defs.onnx_opset_version():
        return
    if key in found and rng.random() < 0.2:
        node.attribute.remove(found[key])
        return f"{key} is left out"
    value = pick(rng, pool[key])
    is_flag = set(pool[key] if isinstance(pool[key][0], int) else [2]) <= {0, 1} and "axis" not in key
    if is_flag:
        value = int(rng.integers(2))
    elif key in found and rng.random() < 0.5:
        value = near(rng, helper.get_attribute_value(found[key]))
    if isinstance(value, list) and key in found and len(value) != len(helper.get_attribute_value(found[key])) > 8:
        return
    if key == "to" and value not in TYPES.values():
        return
    if key in found:
        node.attribute.remove(found[key])
    if isinstance(value, list) and not value:
        return
    node.attribute.append(helper.make_attribute(key, value))
    return f"{key} is {value!r}"


# ---- types ----

def cast(array, kind):
    if array.dtype.kind == "f" and "int" in kind:
        array = np.nan_to_num(array, nan=0, posinf=99, neginf=-99)
        array = np.clip(array, 0 if kind[0] == "u" else -99, 99)
    elif array.dtype.kind == "i" and kind[0] == "u":
        array = np.abs(array)
    return array.astype(kind)


def same_type_as(case, name):
    """The arrays whose types the schema binds to that of `name`, and the allowed types; None: unknown."""
    names, allowed = {name}, None
    for node in case.nodes:
        schema = schema_of(node, case.opsets)
        if name not in node.input or schema is None:
            continue
        formal = [schema.inputs[min(i, len(schema.inputs) - 1)].typeStr for i in range(len(node.input))]
        kind = formal[list(node.input).index(name)]
        names |= {other for other, what in zip(node.input, formal) if what == kind and other in case.arrays}
        for constraint in schema.type_constraints:
            if constraint.type_param_str == kind:
                allowed = {text[len("tensor("):-1] for text in constraint.allowed_type_strs if text.startswith("tensor(")}
    if allowed is None:
        names |= {other for other, array in case.arrays.items() if array.dtype == case.arrays[name].dtype}
    return names, allowed


ONNX_NAMES = {"float": "float32", "double": "float64"}


def retype(case, name, kind):
    """Changes the type of `name`, and of those with its type, to `kind`. None: the schema forbids it, or
    they are strings."""
    names, allowed = same_type_as(case, name)
    if any(case.arrays[each].dtype == object for each in names):
        return None
    if allowed is not None and kind not in {ONNX_NAMES.get(each, each) for each in allowed}:
        return None
    for each in sorted(names):
        case.narrow.pop(each, None)
        case.arrays[each] = cast(case.arrays[each], "float32" if kind in CONVERTED else kind)
        if kind in CONVERTED:
            case.narrow[each] = kind
    return f"{', '.join(sorted(names))}: {kind}"


def element_type(rng, case, pools):
    name = pick(rng, case.arrays)
    old = case.arrays[name].dtype.name
    near = FLOATS if old in FLOATS else INTEGERS if old in INTEGERS else list(TYPES)
    return retype(case, name, pick(rng, near if rng.random() < 0.7 else TYPES))


# ---- inputs ----

def optional_input(rng, case, pools):
    """An input is left out: the last one, or another one by an empty name."""
    node = case.main
    if not node.input:
        return
    at = len(node.input) - 1 if rng.random() < 0.5 else int(rng.integers(len(node.input)))
    schema = schema_of(node, case.opsets)
    if schema is not None and at < schema.min_input:
        return
    if schema is None and node.domain == "com.microsoft" and at == 0:
        return
    name = node.input[at]
    if at == len(node.input) - 1:
        del node.input[at]
    else:
        node.input[at] = ""
    forget(case, name)
    return f"input {at} is left out"


def forget(case, name):
    if all(name not in node.input for node in case.nodes):
        case.arrays.pop(name, None)
        case.constants.discard(name)


def constant(rng, case, pools):
    """A constant becomes an input, or an input a constant."""
    name = pick(rng, case.arrays)
    case.constants ^= {name}
    return f"{name} is {'a constant' if name in case.constants else 'an input'}"


def values(rng, case, pools):
    """Other numbers: special ones, large ones, equal ones."""
    name = pick(rng, data_inputs(case))
    array = case.arrays[name].copy()
    if array.size == 0:
        return
    kind = pick(rng, ["special", "scaled", "equal", "shuffled", "some special"])
    some = rng.random(array.shape) < (0.5 if kind == "special" else 0.1)
    if kind == "equal":
        array[...] = array.ravel()[0]
    elif kind == "shuffled":
        array = spread(rng, array, array.shape)
    elif array.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            special = np.array(SPECIAL).astype(array.dtype)
            scaled = array * array.dtype.type(pick(rng, [1000, 0.001, 30, -1]))
        array = scaled if kind == "scaled" else np.where(some, rng.choice(special, array.shape), array)
    elif array.dtype.kind in "iu":
        ends = np.iinfo(array.dtype)
        special = np.array([ends.min, ends.max, 0, ends.max // 2 + 1], array.dtype)
        array = np.where(some, rng.choice(special, array.shape), array)
    elif array.dtype == object:
        array = np.where(some, rng.choice(np.array(TEXTS, object), array.shape), array)
    else:
        array = rng.random(array.shape) < 0.5
    case.arrays[name] = array.astype(case.arrays[name].dtype)
    return f"{name}: {kind} values"


def opset(rng, case, pools):
    if case.domain == "ai.onnx.ml":
        case.opsets["ai.onnx.ml"] = pick(rng, [1, 2, 3, 4, 5])
        return f"ai.onnx.ml {case.opsets['ai.onnx.ml']}"
    version = int(rng.integers(7, MAX_OPSET + 1))
    schema = None if version > defs.onnx_opset_version() else schema_of(case.main, {"": version})
    if schema is not None:
        keys = {each.name for each in case.main.attribute}
        if not schema.min_input <= len(case.main.input) <= schema.max_input or not keys <= set(schema.attributes):
            return
    case.opsets[""] = version
    return f"operator set {version}"


# ---- chains ----

def append(rng, case, pools):
    """An operator reads the first output."""
    name = case.outputs[0]
    if not name or "chained" in case.outputs:
        return
    if rng.random() < 0.5:
        node = helper.make_node(pick(rng, UNARY), [name], ["chained"])
    else:
        array = None if case.expected is None else case.expected[0]
        other = np.ones([], "float32") if array is None else spread(rng, np.asarray(array), np.shape(array)[-1:])
        if other.dtype.name not in TYPES:
            return
        case.arrays["other"] = other
        node = helper.make_node(pick(rng, BINARY), [name, "other"], ["chained"])
    case.nodes.append(node)
    case.outputs = ["chained", *case.outputs[1:]]
    return f"{node.op_type} follows"


def prepend(rng, case, pools):
    """An operator computes an input."""
    name = pick(rng, data_inputs(case))
    if name in case.narrow or any("before" in node.output for node in case.nodes):
        return
    node = helper.make_node(pick(rng, ["Relu", "Neg", "Abs", "Sigmoid", "Tanh", "Identity", "Exp", "Softmax"]), [name], ["before"])
    for each in case.nodes:
        each.input[:] = ["before" if other == name else other for other in each.input]
    case.nodes.insert(0, node)
    return f"{node.op_type} before {name}"


def join(rng, case, pools):
    """The first input of another model is the first output, if sizes can be matched."""
    if case.expected is None or case.expected[0] is None or case.changes:
        return
    result = np.asarray(case.expected[0])
    other = pick(rng, pools["cases"]).copy()
    first = next((name for name in other.main.input if name in other.arrays), None)
    if first is None or other.arrays[first].ndim != result.ndim or other.arrays[first].dtype != result.dtype:
        return
    if other.opsets != case.opsets or len(other.nodes) > 1:
        return
    mapped = dict(zip(other.arrays[first].shape, result.shape))
    for name, array in other.arrays.items():
        shape = [mapped.get(size, size) for size in array.shape]
        if is_small(shape) and tuple(shape) != array.shape:
            other.arrays[name] = spread(rng, array, shape)
    names = {name: f"second_{name}" for node in other.nodes for name in [*node.input, *node.output] if name}
    names[first] = case.outputs[0]
    del other.arrays[first]
    for node in other.nodes:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
        case.nodes.append(node)
    case.arrays |= {names[name]: array for name, array in other.arrays.items()}
    case.constants |= {names[name] for name in other.constants if name in names and name != first}
    case.outputs = [names[name] for name in other.outputs if name] + case.outputs[1:]
    return f"then {other.seed}"


CHANGES = [(size, 5), (one_size, 3), (rank, 2), (open_sizes, 1), (attribute, 7), (element_type, 5), (optional_input, 3),
           (constant, 3), (values, 5), (opset, 3), (append, 2), (prepend, 2)]


def pools_of(found):
    """{(domain, operator): {attribute: the values of all cases}}; "cases": all of them."""
    pools = {"cases": []}
    for operators in found.values():
        for cases in operators.values():
            pools["cases"] += cases
            for case in cases:
                for node in case.nodes:
                    pool = pools.setdefault((node.domain, node.op_type), {})
                    for each in node.attribute:
                        value = helper.get_attribute_value(each)
                        is_plain = not isinstance(value, list) or not value or isinstance(value[0], (int, float, bytes))
                        if each.type not in (4, 5, 11, 22) and is_plain and value not in pool.setdefault(each.name, []):
                            pool[each.name].append(value)
    return pools


def changed(rng, case, pools):
    """A copy of the case after one to four changes."""
    case = case.copy()
    if rng.random() < 0.1:
        case.changes += filter(None, [join(rng, case, pools)])
    weights = np.array([weight for _, weight in CHANGES], float)
    for k in rng.choice(len(CHANGES), 1 + rng.integers(4), p=weights / weights.sum()):
        if not case.arrays:
            break
        case.changes += filter(None, [CHANGES[k][0](rng, case, pools)])
        case.arrays = {name: np.asarray(array) for name, array in case.arrays.items()}  # NumPy computes scalars
    return case
