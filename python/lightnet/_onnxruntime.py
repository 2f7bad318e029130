# SPDX-License-Identifier: Apache-2.0
"""LightNet under the name of onnxruntime, for libraries that import it themselves.

    import lightnet
    lightnet.as_onnxruntime()
    import onnxruntime            # LightNet, of version API_VERSION

A finder makes the package `onnxruntime`, whose attributes are those of `lightnet`, and finds its submodules: each is the module
of LightNet of the same name, the same object. A class therefore exists once, whatever name it is imported by.
"""
from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any, Iterator, List, Optional, Sequence

NAME = "onnxruntime"
API_VERSION = "1.24.4"  # of onnxruntime, whose names the package has; the distribution onnxruntime-lightnet has it, too
METADATA = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {API_VERSION}\nSummary: LightNet, with the API of {NAME}\n"
OWN = {"__version__": API_VERSION, "get_version_string": lambda: API_VERSION}  # where onnxruntime differs from lightnet


def _twin(name: str) -> str:
    """The module of LightNet: of "onnxruntime.capi" "lightnet.capi"."""
    return __package__ + name[len(NAME):]


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and loads `onnxruntime`, its submodules and its metadata."""

    def find_spec(self, fullname: str, path: Optional[Sequence[Any]] = None,
                  target: Optional[ModuleType] = None) -> Optional[importlib.machinery.ModuleSpec]:
        """None: another package, or LightNet has no such module."""
        if fullname.partition(".")[0] != NAME:
            return None
        twin = importlib.util.find_spec(_twin(fullname))
        if twin is None:
            return None
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=twin.origin)
        spec.submodule_search_locations = twin.submodule_search_locations
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Optional[ModuleType]:
        """A new module for the package; of a submodule, that of LightNet."""
        return None if spec.name == NAME else importlib.import_module(_twin(spec.name))

    def exec_module(self, module: ModuleType) -> None:
        """Gives the package its attributes. Submodules have theirs, and keep their name."""
        if module.__name__ == NAME:
            _fill(module)
        else:
            module.__spec__ = importlib.machinery.PathFinder.find_spec(module.__name__, _folders(module.__name__))

    def get_code(self, fullname: str) -> Any:
        """The code of a module, for python -m."""
        twin = importlib.util.find_spec(_twin(fullname))
        return twin.loader.get_code(_twin(fullname))

    def find_distributions(self, context: Any = None) -> Iterator[Any]:
        """The metadata of onnxruntime, for importlib.metadata."""
        from importlib.metadata import Distribution  # costs as much as all other imports together

        class Onnxruntime(Distribution):
            """What importlib.metadata knows of a package."""

            def read_text(self, filename: str) -> Optional[str]:
                return {"METADATA": METADATA, "top_level.txt": f"{NAME}\n"}.get(filename)

            def locate_file(self, path: Any) -> Any:
                raise FileNotFoundError(f"the distribution {NAME} of LightNet has no files")

        wanted = getattr(context, "name", None)
        if wanted is None or wanted.lower() == NAME:
            yield Onnxruntime()


def _folders(name: str) -> Optional[List[str]]:
    return getattr(sys.modules[name.rpartition(".")[0]], "__path__", None)


def _fill(module: ModuleType) -> None:
    """The attributes of LightNet, each when it is used first."""
    package = sys.modules[__package__]

    def attribute(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module '{NAME}' has no attribute '{name}'")
        value = getattr(package, name)
        setattr(module, name, value)
        return value

    vars(module).update(OWN, __doc__=package.__doc__, __file__=package.__file__, __all__=list(package.__all__),
                        __author__=package.__author__, __getattr__=attribute, __dir__=package.__dir__)


_finder = _Finder()


def as_onnxruntime() -> ModuleType:
    """Makes `import onnxruntime`, in this process, import LightNet, with all submodules that it has and the version of the API.
    Returns the module. ImportError: another onnxruntime is imported already."""
    found = sys.modules.get(NAME)
    if found is not None and getattr(found.__spec__, "loader", None) is not _finder:
        raise ImportError(f"onnxruntime is imported already, from {getattr(found, '__file__', None)}: "
                          "call lightnet.as_onnxruntime() before the first import of it")
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    return importlib.import_module(NAME)
