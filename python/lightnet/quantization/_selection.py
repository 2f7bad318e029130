# SPDX-License-Identifier: Apache-2.0
"""Which nodes of a model are quantized."""
from __future__ import annotations

from typing import Collection, FrozenSet, NamedTuple, Optional, Sequence

from .._errors import InvalidArgument, warn
from ._graph import Model
from ._node import ONNX, Node


class Selection(NamedTuple):
    """Nodes by operator and name."""

    op_types: FrozenSet[str]
    nodes: FrozenSet[str]  # names; none: all
    excluded: FrozenSet[str]

    def wants(self, node: Node) -> bool:
        """Whether the node is quantized where it can be."""
        return (node.domain == ONNX and node.op_type in self.op_types and node.name not in self.excluded
                and (not self.nodes or node.name in self.nodes))

    def warn_of_unknown(self, model: Model) -> None:
        """Warns of names that no node has."""
        unknown = sorted((self.nodes | self.excluded) - {node.name for node in model.nodes})
        if unknown:
            warn(f"the model has no nodes {unknown[:5]}: selecting or excluding them has no effect")


def names_of(argument: str, value: Optional[Sequence[str]]) -> FrozenSet[str]:
    """The names that an argument lists. InvalidArgument: it is one text, whose letters would count as names."""
    if isinstance(value, str):
        raise InvalidArgument(f"{argument} is '{value}', expected a list")
    return frozenset(value or ())


def selection_of(op_types: Optional[Sequence[str]], nodes: Optional[Sequence[str]], excluded: Optional[Sequence[str]],
                 known: Collection[str], default: Collection[str]) -> Selection:
    """The arguments op_types_to_quantize (none: `default`), nodes_to_quantize and nodes_to_exclude. InvalidArgument: no list, or an
    operator that is not in `known`."""
    chosen = names_of("op_types_to_quantize", op_types)
    for name in sorted(chosen - frozenset(known)):
        raise InvalidArgument(f"operator '{name}' cannot be quantized, expected some of {sorted(known)}")
    return Selection(chosen or frozenset(default), names_of("nodes_to_quantize", nodes), names_of("nodes_to_exclude", excluded))
