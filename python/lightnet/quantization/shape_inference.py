# SPDX-License-Identifier: Apache-2.0
"""quant_pre_process: what prepares a model for quantization."""
from __future__ import annotations

import argparse
from typing import Any, Optional, Sequence

from .._command import errors_end, truth
from .._errors import InvalidArgument, warn
from ._fold import simplify
from ._graph import read


def quant_pre_process(input_model: Any = None, output_model_path: Any = None, skip_optimization: bool = False,
                      skip_onnx_shape: bool = False, skip_symbolic_shape: bool = False, auto_merge: bool = False,
                      int_max: int = 2 ** 31 - 1, guess_output_rank: bool = False, verbose: int = 0,
                      save_as_external_data: bool = False, all_tensors_to_one_file: bool = False,
                      external_data_location: Optional[str] = None, external_data_size_threshold: int = 1024,
                      input_model_path: Any = None, **unknown: Any) -> None:
    """Writes the model with its Constant nodes as initializers, without Identity, and with each BatchNormalization folded
    into the convolution before it. quantize_static does the same, and needs no shapes: the other arguments have no effect.
    Warns of arguments that onnxruntime does not have. InvalidArgument: a model is missing.
    """
    if unknown:
        warn(f"quant_pre_process has no arguments {sorted(unknown)}: they have no effect")
    source = input_model if input_model is not None else input_model_path
    if source is None or output_model_path is None:
        raise InvalidArgument("the input model or the path of the output model is missing")
    model = read(source)
    if not skip_optimization:
        simplify(model)
    model.write(output_model_path, save_as_external_data)


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """The command python -m onnxruntime.quantization.preprocess."""
    parser = argparse.ArgumentParser(description="Prepares a model for quantization: writes it with Constant nodes as "
                                     "initializers, and batch normalizations folded into convolutions.")
    parser.add_argument("--input", required=True, help="the model")
    parser.add_argument("--output", required=True, help="the file to write")
    parser.add_argument("--skip_optimization", nargs="?", const=True, default=False, type=truth)
    parser.add_argument("--save_as_external_data", action="store_true", help="constants of 1 KB or more go to OUTPUT.data")
    for name in ("skip_onnx_shape", "skip_symbolic_shape", "auto_merge", "guess_output_rank", "all_tensors_to_one_file"):
        parser.add_argument(f"--{name}", nargs="?", const=True, help="without effect")
    for name in ("int_max", "verbose", "external_data_location", "external_data_size_threshold"):
        parser.add_argument(f"--{name}", help="without effect")
    given = parser.parse_args(arguments)
    with errors_end(parser):
        quant_pre_process(given.input, given.output, given.skip_optimization, save_as_external_data=given.save_as_external_data)


if __name__ == "__main__":
    main()
