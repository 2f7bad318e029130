# SPDX-License-Identifier: Apache-2.0
"""The classes that onnxruntime defines in its module of this name."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

from lightnet import (AdapterFormat, InferenceSession, IOBinding, ModelCompiler, OrtDevice, OrtValue, SparseTensor,  # noqa: F401
                      copy_tensors)

from .._device import check_device
from .._errors import InvalidArgument

Session = InferenceSession  # the class that has its methods in onnxruntime


def get_ort_device_type(device_type: str, device_index: Any = None) -> int:
    """The number of a device type. InvalidArgument: any but "cpu"."""
    check_device(device_type)
    return OrtDevice.cpu()


def check_and_normalize_provider_args(providers: Optional[Sequence[Any]], provider_options: Optional[Sequence[Dict[Any, Any]]],
                                      available_provider_names: Sequence[str]) -> Tuple[List[str], List[Dict[str, str]]]:
    """(names, options of each) of providers, which are names or (name, options). InvalidArgument: two forms are mixed."""
    if providers is None:
        return [], []
    pairs = [(provider, {}) if isinstance(provider, str) else tuple(provider) for provider in providers]
    if provider_options is not None:
        if len(provider_options) != len(pairs) or not all(isinstance(provider, str) for provider in providers):
            raise InvalidArgument(f"{len(pairs)} providers and {len(provider_options)} provider_options, expected names and as many")
        pairs = [(name, options) for (name, _), options in zip(pairs, provider_options)]
    unique = dict(reversed(pairs))
    names = list(dict.fromkeys(name for name, _ in pairs))
    return names, [{str(key): str(value) for key, value in unique[name].items()} for name in names]
