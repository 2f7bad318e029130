#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: embedded.py BUILD. Projects of others find LightNet: by pkg-config, by CMake, shared and static, and as a Meson subproject.

The program and the project files are those of docs/embedding.md, whose commands docs.py types.
"""
import json
import os
import re
import shutil
import sys
import tempfile

from reader import blocks
from tap import ROOT, Tap, faults_of, installer, pkg_config_env, run, text_of

MODEL = os.path.join(ROOT, "examples/digits/digits.onnx")
ANSWER = "It is a 1.\n"

# Loads a plug-in, which a program with the static libraries must reject.
PLUGIN_PROGRAM = """
#include <lightnet/ln_plugin.h>
#include <lightnet/ln_msg.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 2 || !ln_plugin_load(argv[1]))
        return 1;
    fputs(ln_last_error(), stdout);
    return 0;
}
"""


def documented_file(path):
    """The text of a file in docs/embedding.md."""
    return next("\n".join(lines) + "\n" for _, info, lines in blocks(text_of("docs/embedding.md")) if info.endswith(f" file={path}"))


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def wrong_answers(program, env=None):
    status, output = run([program, MODEL], env=env)
    return [] if (status, output) == (0, ANSWER) else [f"{program}: exit status {status}", output]


def libraries_of(program):
    """The names of the shared libraries that a program is linked with."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run(["readelf", "-W", "--dynamic", program])[1])


def wrong_kind(program, kind):
    """A line where a program is not linked with LightNet's libraries of that kind."""
    shared = [name for name in libraries_of(program) if re.match("lib(lightnet|tensorlight)[.]", name)]
    return [] if bool(shared) == (kind == "shared") else [f"{program} needs {shared}, expected the {kind} libraries"]


class Project:
    """The documented project in a folder of its own, and a LightNet that is installed to `prefix`."""

    def __init__(self, folder, prefix):
        self.folder, self.prefix, self.env = folder, prefix, pkg_config_env(prefix)
        for name in "main.c", "CMakeLists.txt", "meson.build":
            write(folder, name, documented_file(f"app/{name}"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def shell(self, command):
        return faults_of(["sh", "-c", command], cwd=self.folder, env=self.env)

    def by_pkg_config(self, options, name):
        flags = f"$(pkg-config {options} --cflags --libs lightnet)"
        return self.shell(f"gcc -std=c11 -Wall -Wextra -Werror {'-static' if '--static' in options else ''} main.c -o {name} {flags}") \
            or wrong_answers(self.path(name), self.env)

    def static_needs_nothing(self):
        yield from self.by_pkg_config("--static", "digit-static")
        yield from (f"digit-static needs {name}" for name in libraries_of(self.path("digit-static")))

    def rejects_plugins(self, plugin):
        write(self.folder, "plugin.c", PLUGIN_PROGRAM)
        archives = "$(pkg-config --static --cflags --libs lightnet | sed -E 's/-l(lightnet|tensorlight)/-l:lib\\1.a/g')"
        for name, command, reason in [
            ("static", "-static $(pkg-config --static --cflags --libs lightnet)",
             "cannot be loaded: this program is static; expected one that is linked with the shared liblightnet"),
            ("mixed", archives, "uses another copy of LightNet than this program does, expected the same shared library"),
        ]:
            yield from self.shell(f"gcc -std=c11 -Wall -Wextra -Werror plugin.c -o {name} {command}")
            status, output = run([self.path(name), plugin], env=self.env)
            if (status, output) != (0, f"{plugin}: {reason}"):
                yield f"{name}: exit status {status}: {output}"

    def cmake(self, build, *options, prefix=None):
        return run(["cmake", "-S", self.folder, "-B", self.path(build), f"-DCMAKE_PREFIX_PATH={prefix or self.prefix}",
                    "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror", *options])

    def by_cmake(self, kind, target, prefix=None):
        """Built with one of the two kinds of libraries, by a CMakeLists.txt that asks for it."""
        text = documented_file("app/CMakeLists.txt")
        text = text.replace("REQUIRED", f"REQUIRED COMPONENTS {kind}").replace("LightNet::lightnet", f"LightNet::{target}")
        write(self.folder, "CMakeLists.txt", text)
        build = f"build-{target}-{os.path.basename(prefix or self.prefix)}"
        status, output = self.cmake(build, prefix=prefix)
        if status:
            return output.splitlines()[-30:]
        program = self.path(f"{build}/digit")
        return faults_of(["cmake", "--build", self.path(build)]) or wrong_answers(program) or wrong_kind(program, kind)

    def rejected_by_cmake(self):
        """An unavailable component is an error with a reason."""
        for line, options, expected in [
            ("LightNet 0.1 REQUIRED COMPONENTS dynamic", [], "Unknown component 'dynamic'; expected shared or static."),
            ("LightNet 99.0 REQUIRED", [], 'compatible with requested version "99.0"'),
            ("LightNet 1.0 REQUIRED", [], 'compatible with requested version "1.0"'),
            ("LightNet REQUIRED COMPONENTS static", ["-DLightNet_jansson_LIBRARY=LightNet_jansson_LIBRARY-NOTFOUND",
                                                     "-DCMAKE_FIND_LIBRARY_PREFIXES=nothing"],
             "The static libraries need 'jansson', which is not found."),
        ]:
            write(self.folder, "CMakeLists.txt", documented_file("app/CMakeLists.txt").replace("LightNet 0.1 REQUIRED", line))
            status, output = self.cmake("build-rejected", *options)
            if status == 0 or expected not in " ".join(output.split()):
                yield f"find_package({line}): exit status {status}, expected '{expected}':\n{output}"
            shutil.rmtree(self.path("build-rejected"))


# A strict host, whose own settings must not reach LightNet.
STRICT = ["-Dwerror=true", "-Dwarning_level=3", "-Dc_std=c99", "-Ddefault_library=static"]

# The default targets: the libraries and the host's program.
PROGRAMS = ["digit"]


class Subproject:
    """The documented project with the tree as its subproject; nothing is installed."""

    def __init__(self, folder):
        self.folder, self.build = folder, os.path.join(folder, "build")
        for name in "main.c", "meson.build":
            write(folder, name, documented_file(f"app/{name}"))
        os.makedirs(os.path.join(folder, "subprojects"))
        os.symlink(ROOT, os.path.join(folder, "subprojects/lightnet"))

    def configure(self):
        env = dict(os.environ, PKG_CONFIG_PATH="")
        return faults_of(["meson", "setup", self.build, *STRICT, "-Dlightnet:images=disabled", "-Doptimization=0"],
                         cwd=self.folder, env=env)

    def introspect(self, what):
        return json.loads(run(["meson", "introspect", self.build, f"--{what}"])[1])

    def unwanted(self):
        """Tests, and programs that are built by default, which the host did not ask for."""
        yield from (f"there is a test {test['name']}" for test in self.introspect("tests"))
        programs = sorted(target["name"] for target in self.introspect("targets")
                          if target["type"] == "executable" and target["build_by_default"])
        if programs != PROGRAMS:
            yield f"the programs are {programs}, expected {PROGRAMS}"

    def leaks(self):
        """Settings of one project that reach the other."""
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            commands = {os.path.basename(entry["file"]): entry["command"].split() for entry in json.load(file)}
        host, guest = commands["main.c"], commands["ln_context.c"]
        for flag in "-D_GNU_SOURCE", "-fvisibility=hidden", "-fstack-protector-strong", "-ffp-contract=off":
            if flag in host or flag not in guest:
                yield f"{flag}: in the host's command {flag in host}, in LightNet's {flag in guest}"
        for flag in "-Werror", "-Wpedantic", "-std=c99":
            if flag not in host or flag in guest:
                yield f"{flag}: in the host's command {flag in host}, in LightNet's {flag in guest}"
        yield from (f"the host sees {flag}" for flag in host if flag.startswith("-I") and not flag.endswith(("include", ".p", ".", "..")))

    def works(self):
        program = os.path.join(self.build, "digit")
        return faults_of(["ninja", "-C", self.build, "digit"]) or wrong_answers(program)


def main():
    build = os.path.abspath(sys.argv[1])
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lightnet-embedded-") as folder:
        prefix = os.path.join(folder, "first")
        tap.check("it_installs", faults_of(installer(build, prefix), cwd=ROOT))
        app = Project(os.path.join(folder, "app"), prefix)
        tap.check("pkg_config_links_the_shared_libraries",
                  app.by_pkg_config("", "digit") or wrong_kind(app.path("digit"), "shared"))
        tap.check("pkg_config_links_a_program_that_needs_nothing_else", app.static_needs_nothing())
        tap.check("a_program_with_the_static_libraries_rejects_plugins",
                  app.rejects_plugins(os.path.join(build, "tests/plugin/squareplus.so")))
        moved = os.path.join(folder, "second")
        if shutil.which("cmake"):
            tap.check("cmake_links_the_shared_libraries", app.by_cmake("shared", "lightnet"))
            tap.check("cmake_links_the_static_libraries", app.by_cmake("static", "lightnet_static"))
            tap.check("cmake_says_what_cannot_be_had", app.rejected_by_cmake())
            shutil.move(prefix, moved)
            tap.check("cmake_finds_them_where_they_were_moved_to", app.by_cmake("static", "lightnet_static", moved))
            for path in "lib/liblightnet.so", "lib/libtensorlight.so":
                os.remove(os.path.join(moved, path))
            tap.check("cmake_links_the_static_libraries_where_there_are_no_others", app.by_cmake("static", "lightnet", moved))
        else:
            tap.skip("cmake_finds_the_libraries", "there is no cmake")
        guest = Subproject(os.path.join(folder, "host"))
        tap.check("a_host_can_be_configured", guest.configure())
        tap.check("a_subproject_builds_what_the_host_asks_for", guest.unwanted())
        tap.check("settings_of_host_and_subproject_stay_apart", guest.leaks())
        if os.environ.get("LIGHTNET_TEST_ALL"):
            tap.check("a_program_works_with_the_subproject", guest.works())
        else:
            tap.skip("a_program_works_with_the_subproject", "it takes a minute: see make test-all")
    tap.end()


if __name__ == "__main__":
    main()
