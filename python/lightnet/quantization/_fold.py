# SPDX-License-Identifier: Apache-2.0
"""Simplifications of a model before it is quantized."""
from __future__ import annotations

from typing import Any, Dict, List, Optional

from .._arrays import numpy
from ._graph import Model
from ._node import Node
from ._tensor import FLOAT


def simplify(model: Model) -> None:
    """Makes constants of Constant nodes, removes Identity, and folds BatchNormalization into the convolution before it."""
    _lift_constants(model)
    _remove_identities(model)
    _fold_normalizations(model)
    model.remove_unused()


def _lift_constants(model: Model) -> None:
    """Constant nodes with a tensor become initializers of the names of their outputs."""
    kept: List[Node] = []
    for node in model.nodes:
        tensor = node.tensor("value") if node.is_a("Constant") else None
        if tensor is None or node.outputs[0] in model.outputs:
            kept.append(node)
        else:
            model.set_initializer(node.outputs[0], tensor)
    model.nodes = kept


def _remove_identities(model: Model) -> None:
    """Readers of an Identity read its input, unless its output is one of the model, or a subgraph reads it."""
    inner = {name for node in model.nodes for name in node.subgraph_reads()}
    renamed: Dict[str, str] = {}
    kept: List[Node] = []
    for node in model.nodes:
        node.inputs = [renamed.get(name, name) for name in node.inputs]
        if node.is_a("Identity") and node.outputs[0] not in inner and node.outputs[0] not in model.outputs:
            renamed[node.outputs[0]] = node.input(0)
        else:
            kept.append(node)
    model.nodes = kept


def _floats(model: Model, name: str) -> Optional[Any]:
    """The elements of a constant of floats."""
    tensor = model.constant(name)
    return tensor.array() if tensor is not None and tensor.type == FLOAT else None


def _fold_normalizations(model: Model) -> None:
    readers, producers = model.readers(), model.producers()
    folded = set()
    for norm in model.nodes:
        source = norm.input(0)
        conv = producers.get(source) if norm.is_a("BatchNormalization") else None
        if (conv is not None and conv.is_a("Conv") and len(readers[source]) == 1 and source not in model.outputs
                and not any(norm.outputs[1:]) and not norm.attribute("training_mode", 0) and _fold(model, conv, norm)):
            folded.add(id(norm))
    model.nodes = [node for node in model.nodes if id(node) not in folded]


def _fold(model: Model, conv: Node, norm: Node) -> bool:
    """Whether it could: with constants, weights' * = scale / sqrt(variance + epsilon), and the bias accordingly."""
    np = numpy()
    weight = _floats(model, conv.input(1))
    names = [norm.input(i) for i in range(1, 5)] + [conv.input(2)] * bool(conv.input(2))
    arrays = [_floats(model, name) for name in names]
    if weight is None or any(array is None or array.shape != weight.shape[:1] for array in arrays):
        return False
    scale, shift, mean, variance, *bias = (array.astype("f8") for array in arrays)
    factor = scale / np.sqrt(variance + norm.attribute("epsilon", 1e-5))
    total = ((bias[0] if bias else 0) - mean) * factor + shift
    new = (weight * factor.reshape(-1, *[1] * (weight.ndim - 1))).astype("f4")
    conv.inputs[1:] = [model.add(new, f"{conv.inputs[1]}_folded"),
                       model.add(total.astype("f4"), f"{norm.outputs[0]}_bias")]
    conv.outputs[0] = norm.outputs[0]
    return True
