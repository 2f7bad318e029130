# SPDX-License-Identifier: Apache-2.0
"""The package that is installed, by the names of onnxruntime."""
from typing import Tuple

from .._environment import cuda_version, package_name, version

has_ortmodule = False


def check_distro_info() -> None:
    """Accepted: the wheel's tag names the systems that it is for."""


def get_package_name_and_version_info() -> Tuple[str, str, str]:
    """(name, version of the API, version of CUDA, which is "")"""
    return package_name, version, cuda_version


def validate_build_package_info() -> Tuple[bool, str, str, str]:
    """(False: there is no training, name, version of the API, version of CUDA)"""
    return (has_ortmodule, *get_package_name_and_version_info())
