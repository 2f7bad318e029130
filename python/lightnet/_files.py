# SPDX-License-Identifier: Apache-2.0
"""Files that are written as a whole."""
from __future__ import annotations

import contextlib
import itertools
import os
import stat
from typing import BinaryIO, Iterator, Union

AnyPath = Union[str, "os.PathLike[str]"]
MAX_ONNX = 2 ** 31 - 1  # bytes of an ONNX file
_counter = itertools.count()


@contextlib.contextmanager
def whole_file(path: AnyPath) -> Iterator[BinaryIO]:
    """A new file, which gets the name `path` when the block ends and its bytes are on the disk. Until then, and after an
    exception, an old file of that name stays as it is. A device is written directly. OSError: it cannot be written."""
    target = os.path.realpath(os.fsdecode(path))
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    made = os.path.join(os.path.dirname(target), f".lightnet-{os.getpid()}-{next(_counter)}.tmp")
    with _created(made, path) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
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
