# SPDX-License-Identifier: Apache-2.0
"""The exceptions, by the names of onnxruntime, and the status of the C API that raises each."""
from __future__ import annotations

import sys
import warnings
from typing import Sequence


class Error(Exception):
    """The base class of all exceptions of models and sessions. `status` is the C API's, such as "LN_BAD_MODEL"."""

    status: str = "LN_INTERNAL_ERROR"


class Fail(Error):
    """An error of the library itself, or of writing a file."""


class InvalidArgument(Error, ValueError):
    """A wrong name, type, shape or option."""

    status = "LN_BAD_ARGUMENT"


class NoSuchFile(Error, FileNotFoundError):
    """The model, or a file that it names, does not exist."""

    status = "LN_NOT_FOUND"


class InvalidGraph(Error):
    """The file is not a model, is damaged, or contradicts itself."""

    status = "LN_BAD_MODEL"


InvalidProtobuf = InvalidGraph


class NotImplemented(Error, NotImplementedError):  # the name is onnxruntime's
    """The model is valid, but needs an operator, a type or a format that this build lacks."""

    status = "LN_UNSUPPORTED"


class LimitReached(Error):
    """A deadline, or a limit of memory or operators."""

    status = "LN_LIMIT_REACHED"


class Cancelled(Fail):
    """Another thread has cancelled the run."""

    status = "LN_CANCELLED"


class InputOutputError(Fail, OSError):
    """A file cannot be read or written."""

    status = "LN_IO_ERROR"


RuntimeException = Fail


# Names of onnxruntime that programs catch. LightNet raises none of them: it has one provider, and a session has a model.

class NoModel(Fail):
    """Never raised: a session always has a model."""


class ModelLoaded(Fail):
    """Never raised: a session never loads a second model."""


class EngineError(Fail):
    """Never raised: errors of the library are Fail."""


class EPFail(Fail):
    """Never raised: there is one provider."""


class ModelLoadCanceled(Fail):
    """SessionOptions.set_load_cancellation_flag."""


class ModelRequiresCompilation(Fail):
    """Never raised: sessions compile their models."""


class NotFound(Fail):
    """Never raised: a name that a model lacks is an InvalidArgument."""


def by_status(names: Sequence[str]) -> list[type[BaseException]]:
    """The exception of each status, in the order of `names`."""
    known = {error.status: error for error in
             (Fail, InvalidArgument, NoSuchFile, InvalidGraph, NotImplemented, LimitReached, Cancelled, InputOutputError)}
    return [known.get(name, MemoryError if name == "LN_OUT_OF_MEMORY" else Fail) for name in names]


def warn(text: str) -> None:
    """A warning at the line that calls the package."""
    frame, level = sys._getframe(1), 2  # pylint: disable=protected-access
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)
