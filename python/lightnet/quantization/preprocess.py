# SPDX-License-Identifier: Apache-2.0
"""quant_pre_process, by its older name."""
from .shape_inference import quant_pre_process

__all__ = ["quant_pre_process"]
