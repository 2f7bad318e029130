# SPDX-License-Identifier: Apache-2.0
"""Small models for examples, under the names that onnxruntime has for them. They are made when they are used first, in a folder
that lasts as long as the process.

    sigmoid.onnx      y = sigmoid(x), of [3, 4, 5]
    mul_1.onnx        Y = X * W, of [3, 2], W = [[1, 2], [3, 4], [5, 6]]
    logreg_iris.onnx  the kind of three flowers from length and width of a sepal, [3, 2]: label, and probabilities of a ZipMap
"""
from __future__ import annotations

import atexit
import os
import shutil
import struct
import tempfile
from typing import Callable, Dict, List, Optional, Sequence

from ._errors import NoSuchFile
from ._files import whole_file
from ._protobuf import put_bytes, put_number, put_text

FLOAT, INT64 = 1, 7  # of onnx.TensorProto.DataType
# A linear discriminant of setosa, versicolor and virginica: lines W x + b for the means (5.0, 3.4), (5.9, 2.8), (6.6, 3.0) in cm
# and variances 0.26, 0.11 with the covariance 0.09 of each class.
MEANS = [(5.0, 3.4), (5.9, 2.8), (6.6, 3.0)]
COVARIANCE = (0.26, 0.09, 0.11)


def _floats(number: int, values: Sequence[float]) -> bytes:
    """A packed field of floats."""
    return put_bytes(number, struct.pack(f"<{len(values)}f", *values))


def _attribute(name: str, kind: int, content: bytes) -> bytes:
    return put_bytes(5, put_text(1, name) + content + put_number(20, kind))


def _node(kind: str, inputs: Sequence[str], outputs: Sequence[str], attributes: bytes = b"", domain: str = "") -> bytes:
    return put_bytes(1, b"".join(put_text(1, name) for name in inputs) + b"".join(put_text(2, name) for name in outputs) +
                     put_text(4, kind) + attributes + put_text(7, domain))


def _value(number: int, name: str, dtype: int, dims: Sequence[int]) -> bytes:
    """An input (11) or output (12)."""
    shape = b"".join(put_bytes(1, put_number(1, size)) for size in dims)
    return put_bytes(number, put_text(1, name) + put_bytes(2, put_bytes(1, put_number(1, dtype) + put_bytes(2, shape))))


def _model(name: str, graph: bytes, domains: Sequence[str] = ("",)) -> bytes:
    versions = {"": 13, "ai.onnx.ml": 1}
    sets = b"".join(put_bytes(8, put_text(1, domain) + put_number(2, versions[domain])) for domain in domains)
    return put_number(1, 7) + put_text(2, "lightnet") + put_bytes(7, graph + put_text(2, name)) + sets


def _sigmoid() -> bytes:
    shape = [3, 4, 5]
    return _model("sigmoid", _node("Sigmoid", ["x"], ["y"]) + _value(11, "x", FLOAT, shape) + _value(12, "y", FLOAT, shape))


def _mul() -> bytes:
    shape = [3, 2]
    weights = put_number(1, 3) + put_number(1, 2) + put_number(2, FLOAT) + _floats(4, [1, 2, 3, 4, 5, 6]) + put_text(8, "W")
    return _model("mul", _node("Mul", ["X", "W"], ["Y"]) + _value(11, "X", FLOAT, shape) + put_bytes(5, weights) +
                  _value(12, "Y", FLOAT, shape))


def discriminant() -> List[List[float]]:
    """[[weight of the length, weight of the width, bias], ..] of the three flowers."""
    a, b, d = COVARIANCE
    scale = 1 / (a * d - b * b)
    lines = []
    for length, width in MEANS:
        x, y = scale * (d * length - b * width), scale * (a * width - b * length)
        lines.append([x, y, -(x * length + y * width) / 2])
    return lines


def _iris() -> bytes:
    lines, domain = discriminant(), "ai.onnx.ml"
    labels = b"".join(put_number(8, label) for label in range(3))
    linear = (_attribute("coefficients", 6, b"".join(_float(weight) for x, y, _ in lines for weight in (x, y))) +
              _attribute("intercepts", 6, b"".join(_float(line[2]) for line in lines)) +
              _attribute("classlabels_ints", 7, labels) + _attribute("multi_class", 2, put_number(3, 1)) +
              _attribute("post_transform", 3, put_text(4, "SOFTMAX")))
    nodes = (_node("LinearClassifier", ["float_input"], ["label", "scores"], linear, domain) +
             _node("ZipMap", ["scores"], ["probabilities"], _attribute("classlabels_int64s", 7, labels), domain))
    scores = put_bytes(4, put_bytes(1, put_bytes(5, put_number(1, INT64) + put_bytes(2, put_bytes(1, put_number(1, FLOAT))))))
    outputs = _value(12, "label", INT64, [3]) + put_bytes(12, put_text(1, "probabilities") + put_bytes(2, scores))
    return _model("iris", nodes + _value(11, "float_input", FLOAT, [3, 2]) + outputs, ["", domain])


def _float(value: float) -> bytes:
    """An element of AttributeProto.floats."""
    return b"\x3d" + struct.pack("<f", value)  # field 7, 4 bytes


EXAMPLES: Dict[str, Callable[[], bytes]] = {"sigmoid.onnx": _sigmoid, "mul_1.onnx": _mul, "logreg_iris.onnx": _iris}
_folder: Optional[str] = None


def _remove(folder: str, process: int) -> None:
    """Not in a child of fork(), whose parent has the folder, too."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def get_example(name: str) -> str:
    """The path of an example. NoSuchFile: there is none of that name."""
    global _folder
    if name not in EXAMPLES:
        raise NoSuchFile(f"there is no example '{name}'; there are: {', '.join(EXAMPLES)}")
    if _folder is None:
        _folder = tempfile.mkdtemp(prefix="lightnet-examples-")
        atexit.register(_remove, _folder, os.getpid())
    path = os.path.join(_folder, name)
    if not os.path.exists(path):
        with whole_file(path) as file:
            file.write(EXAMPLES[name]())
    return path
