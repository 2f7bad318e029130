# SPDX-License-Identifier: Apache-2.0
"""Of onnxruntime's module of this name, what libraries need to run models: io_binding_helper."""
