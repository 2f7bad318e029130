# SPDX-License-Identifier: Apache-2.0
"""The operators that are quantized, by form."""
from ._dynamic import OPERATORS
from ._static import BY_DEFAULT, ROLES

IntegerOpsRegistry = dict(OPERATORS)
QDQRegistry = {name: ROLES[name] for name in sorted(BY_DEFAULT)}
QLinearOpsRegistry = dict(QDQRegistry)

__all__ = ["IntegerOpsRegistry", "QDQRegistry", "QLinearOpsRegistry"]
