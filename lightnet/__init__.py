# SPDX-License-Identifier: Apache-2.0
"""In the root of the sources, Python finds this folder, of C, as `lightnet`: it imports the installed package in its place, or
fails if there is none."""
import importlib.machinery
import importlib.util
import os
import sys

_paths = [path for path in sys.path if not os.path.isdir(os.path.join(path or ".", "lightnet/include"))]
_spec = importlib.machinery.PathFinder.find_spec(__name__, _paths)
if _spec is None or _spec.origin is None:
    _root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    raise ImportError(f"lightnet is not installed: {_root} holds its sources; install it with `pip install {_root}`", name=__name__)
_module = importlib.util.module_from_spec(_spec)
sys.modules[__name__] = _module
_spec.loader.exec_module(_module)
