# SPDX-License-Identifier: Apache-2.0
"""quantize_static and quantize_dynamic: quantized ONNX models, by the signatures of onnxruntime.quantization.

The model stays as it is but for what is quantized: names, open sizes, metadata, operators of other domains.
"""
from __future__ import annotations

import os
from typing import Any, Dict, Mapping, Optional, Sequence, Union

from .._errors import NotImplemented, warn
from . import _dynamic, _static
from ._fold import simplify
from ._graph import Model, read
from ._selection import selection_of
from ._tensor import BFLOAT16, DOUBLE, FLOAT16
from .calibrate import CalibrationMethod, create_calibrator
from .quant_utils import QuantFormat, QuantType

Path = Union[str, "os.PathLike[str]"]
Options = Optional[Mapping[str, Any]]

# Options of quantize_static by onnxruntime's names: those of calibration -> the calibrater's, and its methods (none: all); and all
# that have an effect.
_CALIBRATION = {"CalibMovingAverage": ("moving_average", (CalibrationMethod.MinMax,)),
                "CalibMovingAverageConstant": ("averaging_constant", (CalibrationMethod.MinMax,)),
                "CalibTensorRangeSymmetric": ("symmetric", ()),
                "CalibPercentile": ("percentile", (CalibrationMethod.Percentile,))}
_STATIC = {"ActivationSymmetric", "ForceQuantizeNoInputCheck", "MatMulConstBOnly", "MinimumRealRange",
           "OpTypesToExcludeOutputQuantization", "QDQKeepRemovableActivations", "QuantizeBias", "TensorQuantOverrides",
           "UseQDQContribOps", "WeightSymmetric", *_CALIBRATION}
_DYNAMIC = {"MatMulConstBOnly", "WeightSymmetric"}  # products by computed matrices are never quantized


class QuantConfig:
    """The common arguments."""

    def __init__(self, activation_type: QuantType = QuantType.QUInt8, weight_type: QuantType = QuantType.QInt8,
                 op_types_to_quantize: Optional[Sequence[str]] = None, nodes_to_quantize: Optional[Sequence[str]] = None,
                 nodes_to_exclude: Optional[Sequence[str]] = None, per_channel: bool = False, reduce_range: bool = False,
                 use_external_data_format: bool = False) -> None:
        self.activation_type, self.weight_type = activation_type, weight_type
        self.op_types_to_quantize = op_types_to_quantize
        self.nodes_to_quantize, self.nodes_to_exclude = nodes_to_quantize, nodes_to_exclude
        self.per_channel, self.reduce_range = per_channel, reduce_range
        self.use_external_data_format = use_external_data_format


class StaticQuantConfig(QuantConfig):
    """The arguments of quantize_static, for quantize."""

    def __init__(self, calibration_data_reader: Any, calibrate_method: CalibrationMethod = CalibrationMethod.MinMax,
                 quant_format: QuantFormat = QuantFormat.QDQ, activation_type: QuantType = QuantType.QInt8,
                 weight_type: QuantType = QuantType.QInt8, op_types_to_quantize: Optional[Sequence[str]] = None,
                 nodes_to_quantize: Optional[Sequence[str]] = None, nodes_to_exclude: Optional[Sequence[str]] = None,
                 per_channel: bool = False, reduce_range: bool = False, use_external_data_format: bool = False,
                 calibration_providers: Any = None, extra_options: Options = None) -> None:
        super().__init__(activation_type, weight_type, op_types_to_quantize, nodes_to_quantize, nodes_to_exclude, per_channel,
                         reduce_range, use_external_data_format)
        self.calibration_data_reader, self.calibrate_method = calibration_data_reader, calibrate_method
        self.quant_format, self.calibration_providers = quant_format, calibration_providers
        self.extra_options: Dict[str, Any] = dict(extra_options or {})


class DynamicQuantConfig(QuantConfig):
    """The arguments of quantize_dynamic, for quantize."""

    def __init__(self, weight_type: QuantType = QuantType.QInt8, op_types_to_quantize: Optional[Sequence[str]] = None,
                 nodes_to_quantize: Optional[Sequence[str]] = None, nodes_to_exclude: Optional[Sequence[str]] = None,
                 per_channel: bool = False, reduce_range: bool = False, use_external_data_format: bool = False,
                 extra_options: Options = None) -> None:
        super().__init__(QuantType.QUInt8, weight_type, op_types_to_quantize, nodes_to_quantize, nodes_to_exclude, per_channel,
                         reduce_range, use_external_data_format)
        self.extra_options: Dict[str, Any] = dict(extra_options or {})


def _checked(options: Options, known: Any) -> Dict[str, Any]:
    unknown = sorted(set(options or {}) - set(known))
    if unknown:
        warn(f"extra_options {unknown} have no effect; those with one: {sorted(known)}")
    return dict(options or {})


def _of_calibration(options: Mapping[str, Any], method: CalibrationMethod) -> Dict[str, Any]:
    """The calibrater's options. Warns of those that its method does not have."""
    found = {}
    for key in _CALIBRATION.keys() & options.keys():
        name, methods = _CALIBRATION[key]
        if methods and method not in methods:
            warn(f"extra_options: {key} has no effect with {method}")
        else:
            found[name] = options[key]
    return found


def _warn_of_floats(count: int, model: Model, model_input: Any) -> None:
    """Warns of weights that stay floats because they are inputs, and of a model without a quantized operator."""
    name = os.fspath(model_input) if isinstance(model_input, (str, os.PathLike)) else "the model"
    given = [node.input(1) for node in model.nodes if node.is_a("Conv", "ConvTranspose", "Gemm", "MatMul")
             and node.input(1) in model.initializers and node.input(1) in model.inputs]
    others = sorted({tensor.type for tensor in model.initializers.values()} & {FLOAT16, DOUBLE, BFLOAT16})
    if given:
        warn(f"{name}: weights that are inputs, which callers may set, stay floats: {given[:5]}")
    if not count:
        why = " (only float32 is quantized, and the model has other floats)" if others else ""
        warn(f"{name}: no operator was quantized{why}")


def quantize_static(model_input: Any, model_output: Path, calibration_data_reader: Any,
                    quant_format: QuantFormat = QuantFormat.QDQ, op_types_to_quantize: Optional[Sequence[str]] = None,
                    per_channel: bool = False, reduce_range: bool = False, activation_type: QuantType = QuantType.QInt8,
                    weight_type: QuantType = QuantType.QInt8, nodes_to_quantize: Optional[Sequence[str]] = None,
                    nodes_to_exclude: Optional[Sequence[str]] = None, use_external_data_format: bool = False,
                    calibrate_method: CalibrationMethod = CalibrationMethod.MinMax, calibration_providers: Any = None,
                    extra_options: Options = None) -> None:
    """Writes the model with QuantizeLinear and DequantizeLinear around its operators to model_output.

    model_input: a file, bytes, or a message with SerializeToString. calibration_data_reader: a CalibrationDataReader, or an
    iterable of {input: array}; samples may differ in open sizes. per_channel: a scale for each channel of a weight.
    reduce_range: one bit less, for CPUs whose sums of 8-bit products saturate; LightNet's are exact. extra_options: those of
    onnxruntime that have an effect are in python/README.md.

    Raises InvalidArgument: no samples, a range that is not finite, an operator that cannot be quantized. NotImplemented:
    QuantFormat.QOperator, types of 4 bits and floats of 8.
    """
    if quant_format is not QuantFormat.QDQ:
        raise NotImplemented(f"quant_format is {quant_format!r}, expected QuantFormat.QDQ, whose models run as fast")
    options = _checked(extra_options, _STATIC)
    selection = selection_of(op_types_to_quantize, nodes_to_quantize, nodes_to_exclude, _static.ROLES, _static.BY_DEFAULT)
    settings = _static.settings_of(selection, per_channel, reduce_range, activation_type, weight_type, options)
    model = read(model_input)
    selection.warn_of_unknown(model)
    simplify(model)
    calibrater = create_calibrator(
        model.inlined_message(), selection.op_types, calibrate_method=calibrate_method,
        extra_options=_of_calibration(options, calibrate_method))
    calibrater.collect_data(calibration_data_reader)
    ranges = {name: data.range_value for name, data in calibrater.compute_data().items()}
    _warn_of_floats(_static.Quantizer(model, ranges, settings).run(), model, model_input)
    model.write(model_output, use_external_data_format)


def quantize_dynamic(model_input: Any, model_output: Path, op_types_to_quantize: Optional[Sequence[str]] = None,
                     per_channel: bool = False, reduce_range: bool = False, weight_type: QuantType = QuantType.QInt8,
                     nodes_to_quantize: Optional[Sequence[str]] = None, nodes_to_exclude: Optional[Sequence[str]] = None,
                     use_external_data_format: bool = False, extra_options: Options = None) -> None:
    """Writes the model with 8-bit weights to model_output: MatMul and Gemm become MatMulInteger, Conv ConvInteger, and tables
    of Gather have 8 bits. Sources are rounded in each run to the range that they have then, so it needs no samples.

    Arguments and errors are those of quantize_static. Weights of Conv are always QUInt8.
    """
    selection = selection_of(op_types_to_quantize, nodes_to_quantize, nodes_to_exclude, _dynamic.OPERATORS, _dynamic.OPERATORS)
    settings = _dynamic.settings_of(selection, per_channel, reduce_range, weight_type, _checked(extra_options, _DYNAMIC))
    model = read(model_input)
    selection.warn_of_unknown(model)
    simplify(model)
    _warn_of_floats(_dynamic.Quantizer(model, settings).run(), model, model_input)
    model.write(model_output, use_external_data_format)


def quantize(model_input: Any, model_output: Path, quant_config: QuantConfig) -> None:
    """quantize_static or quantize_dynamic, by the class of quant_config."""
    if isinstance(quant_config, StaticQuantConfig):
        quantize_static(model_input, model_output, **vars(quant_config))
    elif isinstance(quant_config, DynamicQuantConfig):
        arguments = dict(vars(quant_config))
        del arguments["activation_type"]
        quantize_dynamic(model_input, model_output, **arguments)
    else:
        raise TypeError(f"quant_config is of type {type(quant_config).__name__}, expected StaticQuantConfig or DynamicQuantConfig")
