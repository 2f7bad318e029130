# SPDX-License-Identifier: Apache-2.0
"""`import onnxruntime` imports LightNet: lightnet.as_onnxruntime() makes the module, in place of this one."""
import sys

from lightnet import as_onnxruntime

del sys.modules[__name__]
as_onnxruntime()
