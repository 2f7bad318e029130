# SPDX-License-Identifier: Apache-2.0
"""The command `lightnet`, as `python -m lightnet` too."""
import os
import sys

from ._tools import command


def main() -> None:
    """Becomes the command with the same arguments."""
    program = command()
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
