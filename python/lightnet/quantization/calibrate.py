# SPDX-License-Identifier: Apache-2.0
"""Calibration: runs a model on samples, and finds the ranges of its values.

    ranges = create_calibrator("model.onnx", calibrate_method=CalibrationMethod.Percentile)
    ranges.collect_data(reader)
    ranges.compute_data()["conv1_output"].range_value      # (low, high)
"""
from __future__ import annotations

import abc
import enum
import itertools
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Type

from .._arrays import TENSOR_TYPES, OrtValue, numpy
from .._errors import InvalidArgument, NotImplemented
from ._graph import Model, read

BINS = 2048        # of a histogram of magnitudes
LEVELS = 128       # of a quantized magnitude, for entropy
FEW = 8 * BINS     # values: with fewer, entropy has no meaning, and the range is from the least to the greatest
PERCENTILE = 99.999


class CalibrationMethod(enum.Enum):
    """How a range follows from the values in the samples."""

    MinMax = 0
    Entropy = 1
    Percentile = 2
    Distribution = 3


class CalibrationDataReader(abc.ABC):
    """Samples. A subclass has get_next(), which returns the next {input: array}, then None. Samples may differ in their
    open sizes."""

    @abc.abstractmethod
    def get_next(self) -> Optional[Mapping[str, Any]]:
        """The next sample, or None."""

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return self

    def __next__(self) -> Mapping[str, Any]:
        sample = self.get_next()
        if sample is None:
            raise StopIteration
        return sample

    def __len__(self) -> int:
        raise NotImplementedError("the number of samples is unknown")

    def set_range(self, start_index: int, end_index: int) -> None:
        """Selects samples; a reader need not be able to."""
        raise NotImplementedError("the reader cannot select samples")


class TensorData:
    """What is known of the values of a tensor: `lowest` and `highest`, the range."""

    def __init__(self, **kwargs: Any) -> None:
        self.__dict__.update(kwargs)

    @property
    def range_value(self) -> Tuple[Any, Any]:
        """(lowest, highest)"""
        return self.lowest, self.highest


class TensorsData(Dict[str, TensorData]):
    """TensorData by name, and how it was found."""

    def __init__(self, calibration_method: CalibrationMethod, data: Mapping[str, Any]) -> None:
        super().__init__({name: value if isinstance(value, TensorData) else TensorData(lowest=value[0], highest=value[1])
                          for name, value in data.items()})
        self.calibration_method = calibration_method

    @property
    def data(self) -> Dict[str, TensorData]:
        return self


def _samples(reader: Any) -> Iterable[Mapping[str, Any]]:
    """Those of a CalibrationDataReader, of a class that only has get_next, or of an iterable of dicts."""
    if hasattr(reader, "get_next"):
        return iter(reader.get_next, None)
    if not hasattr(reader, "__iter__"):
        raise TypeError(f"the calibration data reader is of type {type(reader).__name__}, expected a CalibrationDataReader, or an "
                        "iterable of {input: array}")
    return iter(reader)


def _arrays_of(sample: Mapping[str, Any], session: Any) -> Dict[str, Any]:
    """The sample; lists of numbers have the type of their input, as in a run."""
    floats = {port.name for port in session.get_inputs() if port.type == TENSOR_TYPES["float32"]}
    lists = {name for name, value in sample.items() if not isinstance(value, OrtValue) and not hasattr(value, "dtype")}
    return {name: numpy().asarray(value, "f4") if name in lists & floats else value for name, value in sample.items()}


class CalibraterBase(abc.ABC):
    """Runs a model, with each value that a quantized operator reads or writes as an output.

    model_path: a file, bytes or a message. op_types_to_calibrate: the operators; None: all.
    """

    method: CalibrationMethod

    def __init__(self, model_path: Any, op_types_to_calibrate: Optional[Sequence[str]] = None,
                 augmented_model_path: str = "", symmetric: bool = False, use_external_data_format: bool = False,
                 **options: Any) -> None:
        self.model: Model = read(model_path)
        self._path = model_path
        self._is_symmetric = symmetric
        self._names = self._select(op_types_to_calibrate)
        self._not_finite: Dict[str, Tuple[float, float]] = {}
        self._set(options)
        self._n = 0

    def _set(self, options: Mapping[str, Any]) -> None:
        if options:
            raise InvalidArgument(f"{type(self).__name__} has no options {sorted(options)}")

    def _select(self, op_types: Optional[Sequence[str]]) -> List[str]:
        nodes = [node for node in self.model.nodes if op_types is None or node.op_type in op_types]
        names = itertools.chain.from_iterable((*node.inputs, *node.outputs) for node in nodes)
        values = {*self.model.inputs, *self.model.producers()} - {*self.model.initializers}
        return [name for name in dict.fromkeys(names) if name in values]

    def collect_data(self, data_reader: Any) -> None:
        """Runs the samples. InvalidArgument: there is none."""
        from .. import InferenceSession, Model as Opened
        for name in self._names:
            if name not in self.model.inputs:
                self.model.add_output(name)
        session, before = None, self._n
        for sample in _samples(data_reader):
            if not isinstance(sample, Mapping):
                raise TypeError(f"sample {self._n - before} is of type {type(sample).__name__}, expected a dict of arrays by name")
            session = session or InferenceSession(Opened(self._content()))
            outputs = session.run(None, dict(sample))
            found = dict(zip([output.name for output in session.get_outputs()], outputs))
            found.update(_arrays_of(sample, session))
            for name in self._names:
                self._note(name, found[name])
            self._n += 1
        if self._n == before:
            raise InvalidArgument("the calibration data reader has no samples, expected at least 1")

    def set_execution_providers(self, execution_providers: Any = ("CPUExecutionProvider",)) -> None:
        """Accepted: samples run on the CPU."""

    def _content(self) -> bytes:
        return self.model.inlined_message()

    def _note(self, name: str, value: Any) -> None:
        array = value.numpy() if isinstance(value, OrtValue) else numpy().asarray(value)
        if array.dtype != "f4" or not array.size:
            return
        if numpy().isfinite(array).all():
            self.note(name, array)
        else:
            self._not_finite[name] = float(array.min()), float(array.max())  # NaN if any value is

    @abc.abstractmethod
    def note(self, name: str, array: Any) -> None:
        """Takes the values of a tensor in a sample, all finite."""

    @abc.abstractmethod
    def ranges(self) -> Dict[str, Tuple[float, float]]:
        """(low, high) of each tensor."""

    def compute_data(self) -> TensorsData:
        """The ranges. That of a tensor with NaN or infinity in a sample is not finite."""
        found = {**self.ranges(), **self._not_finite}
        if self._is_symmetric:
            found = {name: (-max(abs(low), abs(high)), max(abs(low), abs(high))) for name, (low, high) in found.items()}
        np = numpy()
        return TensorsData(self.method, {name: (np.float32(low), np.float32(high)) for name, (low, high) in found.items()})

    compute_range = compute_data


class MinMaxCalibrater(CalibraterBase):
    """The least and the greatest value. moving_average: the means over samples of those, each sample weighted by
    averaging_constant against all before it."""

    method = CalibrationMethod.MinMax

    def _set(self, options: Mapping[str, Any]) -> None:
        options = dict(options)
        self._constant = float(options.pop("averaging_constant", 0.01))
        self._is_average = bool(options.pop("moving_average", False))
        options.pop("max_intermediate_outputs", None)
        if not 0 <= self._constant <= 1:
            raise InvalidArgument(f"averaging_constant is {self._constant}, expected a number from 0 to 1")
        self._found: Dict[str, Tuple[float, float]] = {}
        super()._set(options)

    def note(self, name: str, array: Any) -> None:
        low, high = float(array.min()), float(array.max())
        old = self._found.get(name)
        if old and self._is_average:
            low, high = (before + self._constant * (now - before) for before, now in zip(old, (low, high)))
        elif old:
            low, high = min(old[0], low), max(old[1], high)
        self._found[name] = low, high

    def ranges(self) -> Dict[str, Tuple[float, float]]:
        return dict(self._found)


class _Histogram:
    """Counts of values in 2 * BINS bins of [-reach, reach]. A greater value doubles the reach, which joins pairs of bins."""

    def __init__(self) -> None:
        self.counts = numpy().zeros(2 * BINS, "i8")
        self.reach = 0.0
        self.low, self.high = float("inf"), float("-inf")

    def add(self, array: Any) -> None:
        np = numpy()
        self.low, self.high = min(self.low, float(array.min())), max(self.high, float(array.max()))
        most = max(-self.low, self.high)
        if self.reach == 0:
            self.reach = most or 1e-30
        while self.reach < most:
            middle = self.counts.reshape(-1, 2).sum(1)
            self.counts = np.concatenate([np.zeros(BINS // 2, "i8"), middle, np.zeros(BINS // 2, "i8")])
            self.reach *= 2
        bins = ((array.ravel().astype("f8") + self.reach) * (BINS / self.reach)).astype("i8")
        self.counts += np.bincount(np.minimum(bins, 2 * BINS - 1), minlength=2 * BINS)

    def edge(self, i: Any) -> float:
        """The lower edge of bin i."""
        return float(i) * self.reach / BINS - self.reach

    def magnitudes(self) -> Any:
        """Counts of magnitudes, in BINS bins."""
        return self.counts[BINS:] + self.counts[:BINS][::-1]


class _HistogramCalibrater(CalibraterBase):
    def _set(self, options: Mapping[str, Any]) -> None:
        self._found: Dict[str, _Histogram] = {}
        rest = {key: value for key, value in options.items()
                if key not in ("num_bins", "num_quantized_bins", "percentile", "scenario", "max_intermediate_outputs")}
        self._percentile = float(options.get("percentile", PERCENTILE))
        if not 50 < self._percentile <= 100:
            raise InvalidArgument(f"percentile is {self._percentile}, expected more than 50, at most 100")
        super()._set(rest)

    def note(self, name: str, array: Any) -> None:
        self._found.setdefault(name, _Histogram()).add(array)

    def ranges(self) -> Dict[str, Tuple[float, float]]:
        return {name: (max(low, h.low), min(high, h.high))
                for name, h in self._found.items() for low, high in [self.range_of(h)]}

    @abc.abstractmethod
    def range_of(self, histogram: _Histogram) -> Tuple[float, float]:
        """The range that the values count for."""


class PercentileCalibrater(_HistogramCalibrater):
    """Without the share of 100 - percentile of the values, half of it at each end."""

    method = CalibrationMethod.Percentile

    def range_of(self, histogram: _Histogram) -> Tuple[float, float]:
        np = numpy()
        total = np.cumsum(histogram.counts)
        share = (100 - self._percentile) / 200 * total[-1]
        first, last = np.searchsorted(total, share, "right"), np.searchsorted(total, total[-1] - share, "left")
        return histogram.edge(first), histogram.edge(last + 1)


class EntropyCalibrater(_HistogramCalibrater):
    """Up to the magnitude that minimizes the divergence of Kullback and Leibler between the distribution of the values, the
    greater ones clipped to it, and that of LEVELS quantized magnitudes (S. Migacz, 8-bit inference with TensorRT, 2017)."""

    method = CalibrationMethod.Entropy

    def range_of(self, histogram: _Histogram) -> Tuple[float, float]:
        counts = histogram.magnitudes().astype("f8")
        counts[0] = 0  # zeros are exact in every range
        if counts.sum() < FEW:
            return histogram.low, histogram.high
        best, chosen = float("inf"), BINS
        for n in range(LEVELS, BINS + 1, 8):
            found = _divergence(counts, n)
            if found < best:
                best, chosen = found, n
        most = chosen * histogram.reach / BINS
        return -most, most


def _divergence(counts: Any, n: int) -> float:
    """Between the first n bins, with all others in the last of them, and the same in LEVELS equal parts, spread over the
    bins that are not empty."""
    np = numpy()
    given = counts[:n].copy()
    given[-1] += counts[n:].sum()
    part = np.arange(n) * LEVELS // n
    is_used = given > 0
    sums = np.bincount(part, counts[:n], LEVELS)
    used = np.bincount(part, is_used, LEVELS)
    spread = np.where(is_used, (sums / np.maximum(used, 1))[part], 0)
    p, q = given / max(given.sum(), 1), spread / max(spread.sum(), 1)
    both = is_used & (q > 0)
    return float((p[both] * np.log(p[both] / q[both])).sum()) if (is_used == (q > 0))[:-1].all() else float("inf")


_BY_METHOD: Dict[CalibrationMethod, Type[CalibraterBase]] = {
    CalibrationMethod.MinMax: MinMaxCalibrater, CalibrationMethod.Entropy: EntropyCalibrater,
    CalibrationMethod.Percentile: PercentileCalibrater}


def create_calibrator(model: Any, op_types_to_calibrate: Optional[Sequence[str]] = None,
                      augmented_model_path: str = "augmented_model.onnx",
                      calibrate_method: CalibrationMethod = CalibrationMethod.MinMax, use_external_data_format: bool = False,
                      providers: Any = None, extra_options: Optional[Mapping[str, Any]] = None) -> CalibraterBase:
    """The calibrater of a method. augmented_model_path is not written: the model with more outputs stays in memory.
    NotImplemented: CalibrationMethod.Distribution, which is for 8-bit floats."""
    if calibrate_method not in _BY_METHOD:
        raise NotImplemented(f"calibrate_method is {calibrate_method!r}, expected MinMax, Entropy or Percentile")
    return _BY_METHOD[calibrate_method](model, op_types_to_calibrate, **dict(extra_options or {}))
