# SPDX-License-Identifier: Apache-2.0
"""The operators that are quantized, by form."""
from ._dynamic import OPERATORS
from ._static import ON_REQUEST, ROLES

IntegerOpsRegistry = dict(OPERATORS)
QDQRegistry = {name: role for name, role in ROLES.items() if name not in ON_REQUEST}
QLinearOpsRegistry = dict(QDQRegistry)

__all__ = ["IntegerOpsRegistry", "QDQRegistry", "QLinearOpsRegistry"]
