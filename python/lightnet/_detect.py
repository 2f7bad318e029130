# SPDX-License-Identifier: Apache-2.0
"""Detections: what the outputs of a model show in a picture."""
from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _lightnet
from ._arrays import numpy
from ._errors import InvalidArgument
from ._session import InferenceSession, Model, NodeArg

if TYPE_CHECKING:
    import numpy as np

AnyModel = Union[InferenceSession, Model]
Size = Tuple[int, int]
Outputs = Union[Sequence[Any], Mapping[str, Any]]
Resize = Union[str, Tuple[Size, Size]]
MAX_INT = 2**31 - 1
FITS = ("stretch", "crop", "letterbox", "pad")  # by their numbers in ln_image.h


class Detection(NamedTuple):
    """A detection. box: x0, y0, x1, y1 in pixels of the picture. points: [K, 3], x, y and confidence; None: none."""

    class_index: int
    label: Optional[str]
    score: float
    box: Tuple[float, float, float, float]
    points: Optional[np.ndarray]


class Detections:
    """The detections in a picture, the best first: `classes` [n], `scores` [n], `boxes` [n, 4] (x0, y0, x1, y1 in pixels of
    the picture), `labels` (str, or None), `points` [n, K, 3] (x, y, confidence) or None. `masks` [n, height, width] of bool, or
    None, is computed when it is read; mask(i) is one of them. `family` and `task` are those of the model. len() and iteration
    are those of the detections."""

    def __init__(self, picture: Size, family: str, task: str, n_points: int, items: List[Any]) -> None:
        np = numpy()
        self.family: str = family
        self.task: str = task
        self.picture: Size = picture
        self.classes: np.ndarray = np.array([item[0] for item in items], np.int64)
        self.labels: List[Optional[str]] = [item[1] for item in items]
        self.scores: np.ndarray = np.array([item[2] for item in items], np.float32)
        self.boxes: np.ndarray = np.array([item[3] for item in items], np.float32).reshape(-1, 4)
        self.points: Optional[np.ndarray] = np.frombuffer(
            b"".join(item[4] for item in items), np.float32).reshape(-1, n_points, 3) if n_points else None
        self._masks: List[Any] = [item[5] for item in items]
        self._has_masks = task == "segment"

    def mask(self, i: int) -> np.ndarray:
        """[height, width]: the pixels of detection i. Raises InvalidArgument: the model has no masks."""
        if not self._has_masks:
            raise InvalidArgument(f"models of family {self.family} ({self.task}) have no masks")
        np = numpy()
        x0, y0, x1, y1, pixels = self._masks[i]
        mask: np.ndarray = np.zeros(self.picture, bool)
        mask[y0:y1, x0:x1] = np.frombuffer(pixels, bool).reshape(y1 - y0, x1 - x0)
        return mask

    @property
    def masks(self) -> Optional[np.ndarray]:
        """[n, height, width] of bool; None: the model has no masks."""
        if not self._has_masks:
            return None
        np = numpy()
        return np.array([self.mask(i) for i in range(len(self))], bool).reshape(-1, *self.picture)

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Detection]:
        for i, label in enumerate(self.labels):
            x0, y0, x1, y1 = map(float, self.boxes[i])
            yield Detection(int(self.classes[i]), label, float(self.scores[i]), (x0, y0, x1, y1),
                            None if self.points is None else self.points[i])

    def __repr__(self) -> str:
        return f"Detections({len(self)} of {self.family} ({self.task}))"


def detections(outputs: Outputs, picture: Union[Size, Any], model: Optional[AnyModel] = None, *,
               resize: Resize = "letterbox", input_size: Optional[Size] = None,
               task: Optional[str] = None, labels: Optional[Sequence[str]] = None, score: float = 0.5, overlap: float = 0.5,
               max_detections: int = 300, n_points: int = 0) -> Detections:
    """What a detector has found.

        outputs = session.run(None, {"images": image})
        for d in lightnet.detections(outputs, photo.shape[:2], session):
            print(d.label, d.score, d.box)

    outputs: {name: array}, or the list of all outputs of `model`, which also has the size of the input, and the task, labels
    and key points that Ultralytics writes to its models. picture: height and width, or an array [height, width, ..].
    resize: how the picture became the input: "stretch", "crop", "crop=0.875", "letterbox" (centered) or "pad" (at the upper
    left), as --resize; or ((height, y), (width, x)), the size after resizing, and its first row and column in the input, below
    0 for a border before it. task: "detect", "segment", "pose", "obb" (points are corners), or a family of docs/models.md;
    None: by the model and its outputs. score: the least; overlap: of two boxes of a class with a larger intersection over union
    the worse one is dropped, unless the model contains non-maximum suppression. n_points: key points of a pose.

    Raises InvalidArgument: the outputs fit no family (the message names the nearest one); a wrong argument.
    """
    metadata = _metadata_of(model)
    names, arrays = _outputs_of(outputs, model)
    size = _size_of(picture)
    given = _names_of(metadata) if labels is None else _checked_labels(labels)
    kind = task or metadata.get("task")
    if max_detections < 1:
        raise InvalidArgument(f"max_detections is {max_detections}, expected at least 1")
    found = _lightnet.detect(arrays, [_encode(text) for text in [*names, *given]], _axes(size, resize, input_size, model),
                             kind, score, overlap, max_detections, n_points or _points_of(metadata))
    return Detections(size, *found)


def class_map(outputs: Outputs, picture: Union[Size, Any], model: Optional[AnyModel] = None, *,
              resize: Resize = "letterbox", input_size: Optional[Size] = None, is_nhwc: bool = False,
              score: float = 0.5) -> np.ndarray:
    """[height, width], int32: the class of each pixel of the picture, -1 outside of the input, from the first output
    [1, C, H, W] (the best class; is_nhwc: [1, H, W, C]), [1, 1, H, W] (1 from `score` on) or [1, H, W] of integers. Other
    arguments are those of detections()."""
    np = numpy()
    names, arrays = _outputs_of(outputs, model)
    size = _size_of(picture)
    data = _lightnet.class_map(arrays, [_encode(name) for name in names], _axes(size, resize, input_size, model), int(is_nhwc),
                               score)
    classes: np.ndarray = np.frombuffer(data, np.int32).reshape(size)
    return classes


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape").replace(b"\0", b"?")


# What the model tells

def _metadata_of(model: Optional[AnyModel]) -> Dict[str, str]:
    if model is None:
        return {}
    return (model._model if isinstance(model, InferenceSession) else model).metadata


def _literal(text: str) -> Any:
    """The value of a Python literal; None: it is none."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _names_of(metadata: Mapping[str, str]) -> List[str]:
    """The labels in {0: 'person', 1: 'bicycle'}, or a list."""
    names = _literal(metadata.get("names", ""))
    if isinstance(names, dict):
        names = [names.get(i, names.get(str(i))) for i in range(len(names))]
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else []


def _points_of(metadata: Mapping[str, str]) -> int:
    shape = _literal(metadata.get("kpt_shape", ""))
    n = shape[0] if isinstance(shape, (list, tuple)) and shape else 0
    return n if isinstance(n, int) and 0 <= n <= 1024 else 0


# Arguments

def _outputs_of(outputs: Outputs, model: Optional[AnyModel]) -> Tuple[List[str], Tuple[Any, ...]]:
    if isinstance(outputs, Mapping):
        return list(outputs), tuple(outputs.values())
    if model is None:
        raise InvalidArgument("outputs without names need the model, or {name: array}")
    names = [output.name for output in _nodes(model, "_outputs")]
    if len(names) != len(outputs):
        raise InvalidArgument(f"{len(outputs)} outputs of a model with {len(names)}; pass all, or {{name: array}}")
    return names, tuple(outputs)


def _nodes(model: AnyModel, what: str) -> Sequence[NodeArg]:
    nodes: Sequence[NodeArg] = getattr(model._model if isinstance(model, InferenceSession) else model, what)
    return nodes


def _checked_labels(labels: Sequence[str]) -> List[str]:
    given = [] if isinstance(labels, str) else list(labels)
    if isinstance(labels, str) or not all(isinstance(label, str) for label in given):
        raise InvalidArgument(f"labels is {labels!r}, expected a list of str")
    return given


def _pair(what: str, value: Any, expected: str = "height and width") -> Size:
    """Two integers."""
    try:
        first, second = value
        pair = int(first), int(second)
        if pair == (first, second) and max(map(abs, pair)) <= MAX_INT:
            return pair
    except (TypeError, ValueError, OverflowError):
        pass
    raise InvalidArgument(f"{what} is {value!r}, expected {expected}")


def _size_of(picture: Union[Size, Any]) -> Size:
    shape = getattr(picture, "shape", None)
    return _pair("picture", picture) if shape is None else _pair("the shape of the picture", tuple(shape[:2]))


def _input_size(model: Optional[AnyModel]) -> Size:
    """Of the first input that is an image."""
    for node in _nodes(model, "_inputs") if model is not None else ():
        shape = list(node.shape)[-3:]
        if len(shape) == 3 and shape[0] in (1, 3) and all(isinstance(n, int) for n in shape):
            return shape[1], shape[2]
        if len(shape) == 3 and shape[2] in (1, 3) and all(isinstance(n, int) for n in shape):
            return shape[0], shape[1]
    raise InvalidArgument("the size of the input is unknown; pass input_size=(height, width)")


def _bad_resize(resize: Any) -> InvalidArgument:
    return InvalidArgument(f"resize is {resize!r}, expected 'stretch', 'crop', 'crop=SHARE' (0.01 to 1), 'letterbox', 'pad' "
                           "or ((height, y), (width, x))")


def _fit_of(resize: str) -> Tuple[int, float]:
    """The number of a fit, and the share of 'crop=SHARE'."""
    fit, sign, text = resize.partition("=")
    try:
        share = float(text) if sign else 1.0
    except ValueError:
        share = 0.0
    if fit not in FITS or (sign and fit != "crop") or not 0.01 <= share <= 1:
        raise _bad_resize(resize)
    return FITS.index(fit), share


def _axes(size: Size, resize: Resize, input_size: Optional[Size], model: Optional[AnyModel]) -> Tuple[int, ...]:
    height, width = _input_size(model) if input_size is None else _pair("input_size", input_size)
    if min(*size, height, width) < 1:
        raise InvalidArgument(f"the picture has {size[0]} x {size[1]} pixels, the input {height} x {width}, expected at least 1")
    if isinstance(resize, str):
        axes: Tuple[int, ...] = _lightnet.axes(*_fit_of(resize), *size, height, width)
        return axes
    try:
        rows, columns = resize
    except (TypeError, ValueError):
        raise _bad_resize(resize) from None
    return (size[0], *_pair("resize[0]", rows, "(height, y)"), height, size[1], *_pair("resize[1]", columns, "(width, x)"), width)
