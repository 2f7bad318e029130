#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: cross.py. LightNet can be built for a machine whose programs do not run here: the generators run here, whatever the libraries are for.

The other machine is this one, with the same compiler; for Meson, nothing built for it runs here.
"""
import os
import shlex
import tempfile

from tap import ROOT, Tap, faults_of

CROSS_FILE = """
[binaries]
c = {compiler}
ar = 'ar'
strip = 'strip'
pkg-config = 'pkg-config'
pkgconfig = 'pkg-config'

[host_machine]
system = 'linux'
cpu_family = '{cpu}'
cpu = '{cpu}'
endian = 'little'

[properties]
needs_exe_wrapper = true
"""

# The library of generated code; those of other architectures are built in the same way.
LIBRARY = "lightnet/arch/libln_arch_none.a"


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lightnet-cross-") as folder:
        cross_file = os.path.join(folder, "cross.ini")
        with open(cross_file, "w", encoding="utf-8") as file:
            file.write(CROSS_FILE.format(compiler=shlex.split(os.environ.get("CC", "cc")), cpu=os.uname().machine))
        build = os.path.join(folder, "build")
        tap.check("a_build_for_another_machine_is_configured",
                  faults_of(["meson", "setup", build, "--cross-file", cross_file, "-Doptimization=0"], cwd=ROOT))
        tap.check("its_operators_and_rules_are_generated_here", faults_of(["ninja", "-C", build, LIBRARY]))
    tap.end()


if __name__ == "__main__":
    main()
