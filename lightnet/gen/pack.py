#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: pack.py OUTPUT MODULE FILE.py.. Packs Python files to one program, which calls
main() of the module: a zip archive that Python runs, with their byte code, to start faster."""
import os
import py_compile
import stat
import sys
import tempfile
import zipfile

ANY_TIME = 1980, 1, 1, 0, 0, 0  # the same for each build


def code_of(file):
    """The file as Python's byte code; another Python than this one compiles the file again."""
    with tempfile.TemporaryDirectory() as folder:
        code = py_compile.compile(file, cfile=os.path.join(folder, "code.pyc"),
                                  dfile=os.path.basename(file), doraise=True,
                                  invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
        with open(code, "rb") as stream:
            return stream.read()


def main():
    """Writes the archive."""
    output, module, *files = sys.argv[1:]
    with open(output, "wb") as stream:
        stream.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(stream, "w") as archive:
            def add(name, content):
                archive.writestr(zipfile.ZipInfo(name, ANY_TIME), content)

            for file in files:
                name = os.path.basename(file)
                with open(file, "rb") as source:
                    add(name, source.read())
                add(name + "c", code_of(file))
            add("__main__.py", f"import sys\nimport {module}\n\nsys.exit({module}.main())\n")
    os.chmod(output, os.stat(output).st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


if __name__ == "__main__":
    main()
