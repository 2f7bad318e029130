#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tag of a wheel for Linux (PEP 600), from the versions of glibc's symbols that its programs and libraries need.

usage: manylinux.py FILE..     of each program or library, the newest version of glibc that it needs, and the libraries
       manylinux.py WHEEL..    checks the tag in the wheel's name, and that its libraries are in it or glibc's

It reads ELF files by itself: the dynamic section of a file lists the libraries that it needs (DT_NEEDED), and for each the
versions of its symbols (DT_VERNEED), such as GLIBC_2.34. The loader refuses a file if the C library lacks one.
"""
import re
import struct
import sys
import zipfile

PT_LOAD, PT_DYNAMIC = 1, 2
DT_NEEDED, DT_STRTAB, DT_VERNEED, DT_VERNEEDNUM = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF
VERSION = re.compile(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?$")
NAMED = {"GLIBC_ABI_DT_RELR": (2, 36)}  # versions without a number: the first glibc that has them
C_LIBRARY = re.compile(r"(linux-vdso|ld-(linux|musl)[-\w]*|lib(c|m|mvec|dl|pthread|rt|util|resolv|anl)(\.musl-\w+)?)\.so(\.\d+)*$")


class Elf:
    """A program or library. ValueError: it is damaged, or another kind of file."""

    def __init__(self, data):
        if data[:4] != b"\x7fELF":
            raise ValueError("not an ELF file")
        self.data = data
        self.is_64 = data[4:5] == b"\2"
        self.order = "<" if data[5:6] == b"\1" else ">"
        self.loads, self.dynamic = [], []
        for kind, offset, address, size in self._segments():
            if kind == PT_LOAD:
                self.loads.append((address, size, offset))
            elif kind == PT_DYNAMIC:
                self.dynamic = list(self._entries(offset, size))
        self.strings = self._offset(dict(self.dynamic).get(DT_STRTAB, 0)) if self.dynamic else 0

    def _numbers(self, layout, at):
        if at + struct.calcsize(self.order + layout) > len(self.data):
            raise ValueError(f"the ELF file is damaged: byte {at} of {len(self.data)}")
        return struct.unpack_from(self.order + layout, self.data, at)

    def _segments(self):
        """(type, offset, address, size in the file) of each."""
        start, = self._numbers("Q" if self.is_64 else "I", 32 if self.is_64 else 28)
        size, count = self._numbers("HH", 54 if self.is_64 else 42)
        for i in range(count):
            if self.is_64:
                kind, _, offset, address, _, length = self._numbers("IIQQQQ", start + i * size)
            else:
                kind, offset, address, _, length = self._numbers("IIIII", start + i * size)
            yield kind, offset, address, length

    def _entries(self, offset, size):
        """(tag, value) of the dynamic section, to its end mark."""
        width = 16 if self.is_64 else 8
        for at in range(offset, offset + size - width + 1, width):
            tag, value = self._numbers("QQ" if self.is_64 else "II", at)
            if not tag:
                return
            yield tag, value

    def _offset(self, address):
        """Where in the file an address is."""
        for begin, size, offset in self.loads:
            if begin <= address < begin + size:
                return address - begin + offset
        raise ValueError(f"the ELF file is damaged: address {address:#x} is in no segment")

    def _text(self, at):
        end = self.data.find(b"\0", self.strings + at)
        if end < 0:
            raise ValueError("the ELF file is damaged: a name has no end")
        return self.data[self.strings + at:end].decode("ascii", "replace")

    def libraries(self):
        """The names of the libraries that it needs."""
        return [self._text(value) for tag, value in self.dynamic if tag == DT_NEEDED]

    def versions(self):
        """The versions of symbols that it needs, such as "GLIBC_2.34"."""
        values, found = dict(self.dynamic), set()
        at = self._offset(values[DT_VERNEED]) if DT_VERNEED in values else 0
        for _ in range(values.get(DT_VERNEEDNUM, 0) if at else 0):
            _, count, _, first, following = self._numbers("HHIII", at)
            entry = at + first
            for _ in range(count):
                _, _, _, name, step = self._numbers("IHHII", entry)
                found.add(self._text(name))
                entry += step
            if not following:
                break
            at += following
        return found


def glibc_of(data):
    """(major, minor), the newest version of glibc that an ELF file needs; (0, 0): none. ValueError: it needs private symbols."""
    newest = (0, 0)
    for name in Elf(data).versions():
        match = VERSION.match(name)
        if match:
            newest = max(newest, (int(match[1]), int(match[2])))
        elif name in NAMED:
            newest = max(newest, NAMED[name])
        elif name.startswith("GLIBC_"):
            raise ValueError(f"it needs {name}, which no version of glibc guarantees")
    return newest


def platform_of(files, platform):
    """The platform of the tag: of files {name: bytes} on "linux_x86_64" such as "manylinux_2_34_x86_64". `platform` itself where
    none needs glibc, as on musl, or a library is neither among them nor glibc's."""
    programs = {name: data for name, data in files.items() if data[:4] == b"\x7fELF"}
    newest = max((glibc_of(data) for data in programs.values()), default=(0, 0))
    if newest == (0, 0) or not platform.startswith("linux_") or missing_libraries(programs):
        return platform
    return f"manylinux_{newest[0]}_{newest[1]}_{platform[len('linux_'):]}"


def missing_libraries(programs):
    """Libraries that programs {name: bytes} need, and that are neither among them nor glibc's."""
    own = {name.rpartition("/")[2] for name in programs}
    needed = {library for data in programs.values() for library in Elf(data).libraries()}
    return sorted(name for name in needed - own if not C_LIBRARY.match(name))


def _check_wheel(path):
    """Prints what is wrong; returns whether anything is."""
    with zipfile.ZipFile(path) as wheel:
        files = {name: wheel.read(name) for name in wheel.namelist()}
    programs = {name: data for name, data in files.items() if data[:4] == b"\x7fELF"}
    given = re.search(r"-([^-]+)\.whl$", path)
    machine = given[1].partition("linux_")[2] if given else ""
    wanted = platform_of(files, "linux_" + re.sub(r"^\d+_\d+_", "", machine))
    missing = missing_libraries(programs)
    for name in missing:
        print(f"{path}: {name} is neither in the wheel nor glibc's")
    if not given or given[1] != wanted:
        print(f"{path}: the tag is '{given[1] if given else ''}', expected '{wanted}'")
    else:
        print(f"{path}: {wanted}, of {len(programs)} programs and libraries")
    return bool(missing) or not given or given[1] != wanted


def main():
    """The command."""
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    failed = False
    for path in sys.argv[1:]:
        try:
            if path.endswith(".whl"):
                failed |= _check_wheel(path)
                continue
            with open(path, "rb") as file:
                data = file.read()
            print(f"{path}: glibc {'.'.join(map(str, glibc_of(data)))}; {', '.join(Elf(data).libraries())}")
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            print(f"{path}: {error}")
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
