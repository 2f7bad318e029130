# SPDX-License-Identifier: Apache-2.0
"""usage: python -m lightnet.tools.make_dynamic_shape_fixed [OPTION..] MODEL FILE

Writes the ONNX model with fixed sizes, by the options of onnxruntime's module of this name.
"""
from __future__ import annotations

import argparse
import os
import sys
from typing import List, Optional

import onnx

from .._command import errors_end
from .onnx_model_utils import fix_output_shapes, make_dim_param_fixed, make_input_shape_fixed


def shape(text: str) -> List[int]:
    """The sizes in "1,3,224,224"."""
    return [int(size) for size in text.split(",")]


def main(arguments: Optional[List[str]] = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(f"{os.path.basename(sys.executable)} -m {__spec__.name}", description="Fixes open sizes of an ONNX model.")
    parser.add_argument("--dim_param", help="an open size; needs --dim_value")
    parser.add_argument("--dim_value", type=int, help="the number of --dim_param")
    parser.add_argument("--input_name", help="an input; needs --input_shape")
    parser.add_argument("--input_shape", type=shape, help="its shape, such as 1,3,224,224")
    parser.add_argument("input_model")
    parser.add_argument("output_model")
    given = parser.parse_args(arguments)
    by_name = given.dim_param is not None and given.dim_value is not None
    by_input = given.input_name is not None and given.input_shape is not None
    if by_name == by_input:
        parser.error("expected --dim_param and --dim_value, or --input_name and --input_shape")
    with errors_end(parser):
        model = onnx.load(given.input_model)
        if by_name:
            make_dim_param_fixed(model.graph, given.dim_param, given.dim_value)
        else:
            make_input_shape_fixed(model.graph, given.input_name, given.input_shape)
        fix_output_shapes(model)
        onnx.save(model, given.output_model)


if __name__ == "__main__":
    main()
