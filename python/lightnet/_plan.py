# SPDX-License-Identifier: Apache-2.0
"""The memory plan of a compiled program."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Optional


class MemoryBlock(NamedTuple):
    """A piece of memory: a tensor with all that share its memory, or the scratch memory of an operator.

    Times are positions in the list of operators, from 1; 0 is before a run, the number of operators + 1 is after it.
    Operators at load have negative times, in the same order.
    """

    name: str            # of the tensor; of the operator for scratch memory
    memory: str          # the memory type, such as "LN_MEM_CPU"
    bytes: int
    offset: int          # in the memory of its type
    first: int           # it is live from this time
    last: int            # to this one, inclusive
    first_operator: Optional[str]  # the operators at these times; None: before or after all
    last_operator: Optional[str]
    reuses: Optional[str]  # the block whose memory it has, an output in place of an input; None: its own
    is_scratch: bool
    is_constant: bool    # the same content in all runs


class MemoryPlan:
    """The blocks of a program: `total` planned bytes of main memory, and `lower_bound`, the max sum of live blocks. Other
    memory types are in `totals` and `lower_bounds`, {memory type: bytes}. len() and iteration are those of `blocks`."""

    def __init__(self, rows: List[Any], totals: List[Any]) -> None:
        self.blocks: List[MemoryBlock] = [MemoryBlock(*row[:9], bool(row[9]), bool(row[10])) for row in rows]
        self.totals: Dict[str, int] = {memory: size for memory, size, _ in totals}
        self.lower_bounds: Dict[str, int] = {memory: bound for memory, _, bound in totals}
        self.total: int = self.totals.get("LN_MEM_CPU", 0)
        self.lower_bound: int = self.lower_bounds.get("LN_MEM_CPU", 0)

    def __len__(self) -> int:
        return len(self.blocks)

    def __iter__(self) -> Iterator[MemoryBlock]:
        return iter(self.blocks)

    def __repr__(self) -> str:
        return f"MemoryPlan({len(self.blocks)} blocks, {self.total} bytes, lower bound {self.lower_bound})"
