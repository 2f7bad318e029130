# SPDX-License-Identifier: Apache-2.0
"""Quantization to 8 bits, over the C API (ln_quantize.h)."""
from __future__ import annotations

import math
import os
import pathlib
from typing import Any, Callable, Iterable, List, Mapping, NamedTuple, Optional, Tuple, Union

from . import _lightnet
from ._arrays import numpy
from ._errors import InvalidArgument, NoSuchFile
from ._session import InferenceSession, Model, Source

Progress = Callable[[str, int, int], Any]
Samples = Union[str, "os.PathLike[str]", Iterable[Mapping[str, Any]]]


class QuantizedLayer(NamedTuple):
    """A layer of the model, and its measurements."""

    name: str        # of its operator
    type: str        # of its operator, such as "conv2d"
    precision: str   # in the new model: "int8", "bf16" or "float32"
    ns_before: float  # of a run, in float32
    ns_after: float
    error: float     # of the outputs if only this layer is in 8 bits; infinite: not supported


class QuantizationReport:
    """The result of quantize. str() is the table of the command `lightnet quantize`.

    layers: [QuantizedLayer, ..]; n_quantized: of them, in 8 bits; error: the max relative error of an output over the
    samples; top1: the share of equal argmax indices; ns_before, ns_after: the time of a run.
    """

    def __init__(self, layers: List[Any], has_joints: int, is_bf16: int, n_within: int, error: float, top1: float,
                 ns_before: float, ns_after: float, any_speed: bool = False) -> None:
        self.layers: List[QuantizedLayer] = [QuantizedLayer(*layer) for layer in layers]
        self.n_quantized: int = sum(layer.precision == "int8" for layer in self.layers)
        self.has_joints: bool = bool(has_joints)
        self.is_bf16: bool = bool(is_bf16)
        self.n_within: int = n_within
        self.error: float = error
        self.top1: float = top1
        self.ns_before: float = ns_before
        self.ns_after: float = ns_after
        self._any_speed = any_speed

    def _reason(self) -> str:
        """Why the model stays float32."""
        if not self.layers:
            return "it has no layers that can be in 8 bits"
        if self.n_within:
            return "the mix that keeps the budget is not faster"
        return "no mix of layers keeps the budget" if self._any_speed else "no faster mix of layers keeps the budget"

    def __str__(self) -> str:
        width = min(40, max([5, *(len(layer.name) for layer in self.layers)]))
        lines = [f"{'layer':{width}} {'type':8} {'precision':9} {'ms before':>10} {'ms after':>10} {'error':>10}"]
        for layer in self.layers:
            error = f"{layer.error:.6f}" if math.isfinite(layer.error) else "-"
            lines.append(f"{layer.name[:width]:{width}} {layer.type:8} {layer.precision:9} {layer.ns_before * 1e-6:10.4f} "
                         f"{layer.ns_after * 1e-6:10.4f} {error:>10}")
        lines += [f"layers  {self.n_quantized} of {len(self.layers)} in 8 bits"
                  f"{', and additions and average pooling between them' if self.has_joints else ''}"
                  f"{'; others may round to bfloat16' if self.is_bf16 else ''}",
                  f"error   {self.error:.6f}", f"top1    {self.top1:.6f}",
                  f"time    {self.ns_before * 1e-6:.4f} ms before, {self.ns_after * 1e-6:.4f} ms after"]
        if not self.n_quantized and not self.is_bf16:
            lines.append(f"The model stays float32: {self._reason()}.")
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        return f"QuantizationReport({self.n_quantized} of {len(self.layers)} layers in 8 bits, error {self.error:.6g})"


OPTIONS = ("calibration", "percentile", "max_error", "top1", "any_speed", "bf16", "seconds")  # of the quantizer; others: of Model


def quantize(model: Union[Source, Model, InferenceSession], to: Union[str, "os.PathLike[str]"], samples: Samples,
             progress: Optional[Progress] = None, **options: Any) -> QuantizationReport:
    """Writes a model of 8-bit layers to the file `to`, and returns the result: with the suffix .safetensors compiled, for the
    shapes of the first sample, or as .onnx, with open sizes. Other threads continue to run.

    samples: {name: array} for each sample, a list or an iterator, of all required inputs; they may differ in open sizes. Or a
    path: a folder of npy files, one for each sample, in the order of their names; a folder with such a folder for each
    input, called as it; or an npy file, whose first axis is samples.
    progress: called with (step, done, total), total 0 for a step of unknown length; what it raises ends quantize.
    options: calibration ("minmax", "percentile", "entropy"), percentile, max_error, top1, any_speed, bf16, seconds (see
    docs/quantization.md), and those of Model, such as threads=2.

    Raises InvalidArgument: another suffix, an option, a sample of another type or shape, no samples, a compiled model.
    """
    suffix = os.path.splitext(os.fspath(to))[1]
    if suffix not in (".safetensors", ".onnx"):
        raise InvalidArgument(f"{to}: the suffix is '{suffix}', expected .safetensors or .onnx")
    own = {"bf16": "no" if suffix == ".onnx" else "yes"}
    own.update({key: options.pop(key) for key in OPTIONS if key in options})
    opened = _opened(model, options)
    quantizer = _lightnet.Quantizer(opened._model)
    for key, value in own.items():
        if value is not None:
            quantizer.set(key, ("yes" if value else "no") if isinstance(value, bool) else str(value))
    names = [node.name for node in opened.inputs]
    shapes = [node.shape for node in opened.inputs]
    for i, feed in enumerate(_files(samples, names, shapes) if isinstance(samples, (str, os.PathLike)) else samples):
        quantizer.add_sample(_in_order(feed, names, i))
    quantizer.run(progress)
    quantizer.save(os.fsencode(to))
    return QuantizationReport(*quantizer.result(), any_speed=own.get("any_speed") in (True, "yes"))


def _opened(model: Union[Source, Model, InferenceSession], options: Mapping[str, Any]) -> Model:
    if isinstance(model, InferenceSession):
        model = model._model
    if not isinstance(model, Model):
        try:
            return Model(model, **options)
        except InvalidArgument as error:
            if "unknown option" not in str(error):
                raise
            raise InvalidArgument(f"{error}; those of quantize: {', '.join(OPTIONS)}") from None
    if options:
        raise InvalidArgument(f"options {', '.join(options)} belong to the Model")
    return model


def _in_order(feed: Mapping[str, Any], names: List[str], i: int) -> Tuple[Any, ...]:
    if not isinstance(feed, Mapping):
        raise TypeError(f"sample {i} is of type {type(feed).__name__}, expected a dict of arrays by name")
    if set(feed) != set(names):
        raise InvalidArgument(f"sample {i} has inputs {sorted(feed)}, expected {sorted(names)}")
    return tuple(feed[name] for name in names)


def _files(samples: Union[str, "os.PathLike[str]"], names: List[str], shapes: List[Any]) -> Iterable[Mapping[str, Any]]:
    """The samples of a path."""
    path = pathlib.Path(samples)
    if path.is_file():
        yield from _rows(path, names, shapes)
        return
    if not path.is_dir():
        raise NoSuchFile(f"{path}: no such file or folder of samples")
    folders = [path] if len(names) == 1 else [path / name for name in names]
    lists = [_listing(folder) for folder in folders]
    for folder, listing in zip(folders, lists):
        if len(listing) != len(lists[0]):
            raise InvalidArgument(f"{folders[0]} has {len(lists[0])} files, {folder} has {len(listing)}")
    for files in zip(*lists):
        yield {name: _load(file) for name, file in zip(names, files)}


def _listing(folder: pathlib.Path) -> List[pathlib.Path]:
    if not folder.is_dir():
        raise NoSuchFile(f"{folder}: no such folder of samples")
    files = sorted(file for file in folder.iterdir() if not file.name.startswith("."))
    if not files:
        raise InvalidArgument(f"{folder}: no files")
    return files


def _load(file: pathlib.Path) -> Any:
    if file.suffix != ".npy":
        raise InvalidArgument(f"{file}: expected an npy file; read images in Python, or with `lightnet quantize --data`")
    try:
        return numpy().load(file, allow_pickle=False)
    except ValueError as error:
        raise InvalidArgument(f"{file}: {error}") from error


def _rows(path: pathlib.Path, names: List[str], shapes: List[Any]) -> Iterable[Mapping[str, Any]]:
    """The samples of an array: with their axis in front of the input's, or in place of its first one."""
    if len(names) != 1:
        raise InvalidArgument(f"{path}: the model has {len(names)} inputs, expected a folder with a folder for each of them")
    whole, shape = _load(path), shapes[0]
    if shape is not None and whole.ndim == len(shape) and whole.ndim:
        size = shape[0] if isinstance(shape[0], int) and shape[0] > 0 else 1
        if len(whole) % size:
            raise InvalidArgument(f"{path}: {len(whole)} samples along the first axis, expected a multiple of {size}")
        parts = [whole[i:i + size] for i in range(0, len(whole), size)]
    else:
        parts = list(whole)
    for part in parts:
        yield {names[0]: part}
