# SPDX-License-Identifier: Apache-2.0
"""Functions of onnxruntime about the process and the installation."""
from __future__ import annotations

import platform
import sys
from typing import Optional

from ._onnxruntime import API_VERSION, NAME

package_name: str = NAME
version: str = API_VERSION
cuda_version: str = ""


def has_collective_ops() -> bool:
    """False: LightNet runs in one process."""
    return False


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: Optional[str] = None) -> None:
    """Accepted: LightNet needs no libraries of CUDA."""


def print_debug_info() -> None:
    """Prints versions, the platform and the build options."""
    package = sys.modules[__package__]
    print(f"{package.__name__} {package.__version__}, with the API of {NAME} {API_VERSION}, at {package.__path__[0]}")
    print(f"Python {platform.python_version()} on {platform.platform()}")
    print(package.get_build_info())
