# SPDX-License-Identifier: Apache-2.0
"""Files of models: written as a whole, and read only from the folder of the model."""
from __future__ import annotations

import contextlib
import itertools
import os
import stat
from typing import BinaryIO, Iterator, Mapping, Union

from ._errors import InvalidGraph, NoSuchFile
from ._initializers import extent

AnyPath = Union[str, "os.PathLike[str]"]
MAX_ONNX = 2 ** 31 - 1  # bytes of an ONNX file
_counter = itertools.count()


@contextlib.contextmanager
def whole_file(path: AnyPath) -> Iterator[BinaryIO]:
    """A new file, which gets the name `path` when the block ends. Until then, and after an exception, an old file of that name
    stays as it is. A device is written directly. OSError: it cannot be written."""
    target = os.path.realpath(os.fsdecode(path))
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    made = os.path.join(os.path.dirname(target), f".lightnet-{os.getpid()}-{next(_counter)}.tmp")
    with _created(made, path) as file:
        try:
            yield file
            file.close()
            if os.path.exists(target):
                os.chmod(made, stat.S_IMODE(os.stat(target).st_mode))
            os.replace(made, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(made)
            raise


def _created(made: str, path: AnyPath) -> BinaryIO:
    """The file `made`; errors name `path`."""
    try:
        return open(made, "xb")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fsdecode(path)) from None


def beside(folder: str, name: str) -> str:
    """The path of a file that a model in the folder names. InvalidGraph: it is not beneath the folder, links followed."""
    root = os.path.realpath(folder)
    found = os.path.realpath(os.path.join(root, name)) if "\0" not in name else ""
    if not name or not found or os.path.commonpath([root, found]) != root:
        raise InvalidGraph(f"external data '{name}' is not in the folder of the model")
    return found


def external_data(folder: str, entries: Mapping[str, str], name: str) -> bytes:
    """The elements of the initializer `name`, by the entries of its external data. NoSuchFile: the file cannot be read;
    InvalidGraph: it is elsewhere, or does not have the elements."""
    path = beside(folder, entries.get("location", ""))
    if not os.path.isfile(path):
        raise NoSuchFile(f"initializer '{name}': external data '{path}': no such file")
    try:
        with open(path, "rb") as file:
            offset, length = extent(entries, os.fstat(file.fileno()).st_size, name, InvalidGraph)
            file.seek(offset)
            return file.read(length)
    except OSError as error:
        raise NoSuchFile(f"initializer '{name}': external data '{path}': {error.strerror}") from error
