# SPDX-License-Identifier: Apache-2.0
"""Files that are written as a whole."""
from __future__ import annotations

import contextlib
import os
import stat
from typing import BinaryIO, Iterator, Union

AnyPath = Union[str, "os.PathLike[str]"]
MAX_ONNX = 2 ** 31 - 1  # bytes of an ONNX file


@contextlib.contextmanager
def whole_file(path: AnyPath, sync: bool = True) -> Iterator[BinaryIO]:
    """A new file, which gets the name `path` when the block ends and its bytes are on the disk. Until then, and after an
    exception, an old file of that name stays as it is. A device is written directly. sync=False: the bytes need not be on the
    disk unless there is an old file. OSError: it cannot be written."""
    target = os.path.realpath(os.fsdecode(path))
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    # Hosts that share the folder may have processes of one number.
    made = os.path.join(os.path.dirname(target), f".lightnet-{os.urandom(8).hex()}.tmp")
    with _created(made, path) as file:
        try:
            yield file
            file.flush()
            exists = os.path.exists(target)
            if sync or exists:
                os.fsync(file.fileno())
            if exists:
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
