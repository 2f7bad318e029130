# SPDX-License-Identifier: Apache-2.0
"""The classes that onnxruntime defines in its module of this name."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .. import AdapterFormat, InferenceSession, IOBinding, ModelCompiler, OrtDevice, OrtValue, SparseTensor, copy_tensors  # noqa: F401
from .._device import check_device
from .._errors import InvalidArgument, warn

Session = InferenceSession  # the class that has its methods in onnxruntime


def get_ort_device_type(device_type: str, device_index: Any = None) -> int:
    """The number of a device type. InvalidArgument: any but "cpu"."""
    check_device(device_type)
    return OrtDevice.cpu()


def _name_and_options(provider: Any) -> Tuple[str, Mapping[Any, Any]]:
    """InvalidArgument: the provider is neither a name nor (name, options)."""
    if isinstance(provider, str):
        return provider, {}
    if isinstance(provider, tuple) and len(provider) == 2 and isinstance(provider[0], str) and isinstance(provider[1], Mapping):
        return provider[0], provider[1]
    raise InvalidArgument(f"provider {provider!r}, expected a name or (name, options)")


def check_and_normalize_provider_args(providers: Optional[Sequence[Any]], provider_options: Optional[Sequence[Dict[Any, Any]]],
                                      available_provider_names: Sequence[str]) -> Tuple[List[str], List[Dict[str, str]]]:
    """(names, options of each) of providers, which are names or (name, options); of equal names, the first counts. Warns of names
    that are not available. InvalidArgument: another form, or two forms are mixed."""
    if providers is None:
        return [], []
    pairs = [_name_and_options(provider) for provider in ([providers] if isinstance(providers, str) else providers)]
    if provider_options is not None:
        if len(provider_options) != len(pairs) or not all(isinstance(provider, str) for provider in providers):
            raise InvalidArgument(f"{len(pairs)} providers and {len(provider_options)} provider_options, expected names and as many")
        pairs = [_name_and_options((name, options)) for (name, _), options in zip(pairs, provider_options)]
    first = dict(reversed(pairs))
    names = list(dict.fromkeys(name for name, _ in pairs))
    missing = [name for name in names if name not in available_provider_names]
    if missing:
        warn(f"providers {missing} are not available, expected some of {list(available_provider_names)}")
    return names, [{str(key): str(value) for key, value in first[name].items()} for name in names]
