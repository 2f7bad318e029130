# SPDX-License-Identifier: Apache-2.0
"""What the commands of modules (python -m) share."""
from __future__ import annotations

import argparse
import contextlib
from typing import Iterator

from ._errors import Error, InvalidArgument


@contextlib.contextmanager
def errors_end(parser: argparse.ArgumentParser) -> Iterator[None]:
    """Errors end the command with their message: InvalidArgument as wrong usage (status 2), others of the package or of files with
    status 1."""
    try:
        yield
    except InvalidArgument as error:
        parser.error(str(error))
    except (Error, OSError) as error:
        parser.exit(1, f"{parser.prog}: error: {error}\n")


def truth(text: str) -> bool:
    """The value of an option that is true or false."""
    value = {"true": True, "1": True, "false": False, "0": False}.get(text.lower())
    if value is None:
        raise argparse.ArgumentTypeError(f"'{text}' is neither true nor false")
    return value
