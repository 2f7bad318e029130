# SPDX-License-Identifier: Apache-2.0
"""The names of onnxruntime_pybind11_state, under the other name that onnxruntime has for them."""
from .onnxruntime_pybind11_state import *  # noqa: F401,F403
from .onnxruntime_pybind11_state import __all__  # noqa: F401
