# SPDX-License-Identifier: Apache-2.0
"""Quantization of ONNX models to 8 bits, by the names of onnxruntime.quantization. Models stay ONNX, with open sizes, for
LightNet, ONNX Runtime and others.

    from lightnet.quantization import quantize_static
    quantize_static("model.onnx", "model8.onnx", [{"x": array}, ..])

lightnet.quantize, beside it, finds the fastest mix of layers within a budget of error, and writes a compiled model.
"""
from .calibrate import (CalibraterBase, CalibrationDataReader, CalibrationMethod, EntropyCalibrater, MinMaxCalibrater,
                        PercentileCalibrater, TensorData, TensorsData, create_calibrator)
from .quant_utils import QuantFormat, QuantizationMode, QuantType
from .quantize import DynamicQuantConfig, QuantConfig, StaticQuantConfig, quantize, quantize_dynamic, quantize_static
from .shape_inference import quant_pre_process

__all__ = ["CalibraterBase", "CalibrationDataReader", "CalibrationMethod", "DynamicQuantConfig", "EntropyCalibrater",
           "MinMaxCalibrater", "PercentileCalibrater", "QuantConfig", "QuantFormat", "QuantType", "QuantizationMode",
           "StaticQuantConfig", "TensorData", "TensorsData", "create_calibrator", "quant_pre_process", "quantize",
           "quantize_dynamic", "quantize_static"]
