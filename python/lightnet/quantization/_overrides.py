# SPDX-License-Identifier: Apache-2.0
"""TensorQuantOverrides, an option of quantize_static: steps of single tensors.

    {"conv1_output": [{"rmin": -1.0, "rmax": 1.0}], "conv1_weight": [{"quant_type": QuantType.QUInt8}]}
"""
from __future__ import annotations

import math
from typing import Any, Dict, Mapping, Optional, Set

from .._arrays import numpy
from .._errors import InvalidArgument
from .quant_utils import QuantType, Step, dtype_of, limits

MEMBERS = {"quant_type", "scale", "zero_point", "rmin", "rmax", "symmetric", "reduce_range"}


def checked_overrides(overrides: Mapping[str, Any], known: Set[str]) -> Dict[str, Mapping[str, Any]]:
    """TensorQuantOverrides by tensor: of each the only dict in its list. InvalidArgument: of a tensor that the model lacks, or
    with another member."""
    found: Dict[str, Mapping[str, Any]] = {}
    for name, value in overrides.items():
        if name not in known:
            raise InvalidArgument(f"TensorQuantOverrides: the model has no tensor '{name}'")
        dicts = value if isinstance(value, (list, tuple)) else [value]
        if len(dicts) != 1 or not isinstance(dicts[0], Mapping) or set(dicts[0]) - MEMBERS:
            raise InvalidArgument(f"TensorQuantOverrides of '{name}': expected a list of one dict with some of {sorted(MEMBERS)}, "
                                  f"got {value}")
        found[name] = dicts[0]
    return found


def step_of_override(override: Mapping[str, Any], kind: QuantType, axis: Optional[int] = None) -> Optional[Step]:
    """The step that an override states as scale and zero point; None: it does not. InvalidArgument: they are no step of one
    scale."""
    if "scale" not in override:
        return None
    np, (least, most) = numpy(), limits(kind)
    scale, zero = np.asarray(override["scale"], "f4"), np.asarray(override.get("zero_point", 0))
    if scale.size != 1 or not 0 < scale.item() < math.inf or zero.size != 1 or not least <= zero.item() <= most:
        raise InvalidArgument(f"TensorQuantOverrides has scale {override['scale']} and zero_point {zero.tolist()}, expected a positive "
                              f"number and one from {least} to {most}")
    if axis is not None:
        raise InvalidArgument("TensorQuantOverrides has one scale, but per_channel is set")
    return Step(scale.reshape(()), zero.reshape(()).astype(dtype_of(kind)))
