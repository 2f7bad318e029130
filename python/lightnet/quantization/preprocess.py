# SPDX-License-Identifier: Apache-2.0
"""quant_pre_process, by its older name."""
from .shape_inference import main, quant_pre_process

__all__ = ["quant_pre_process"]

if __name__ == "__main__":
    main()
