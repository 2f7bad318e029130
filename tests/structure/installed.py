#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: installed.py BUILD. An installation by `make install` works, and still does after the folder has moved.

Where checks from outside lie in ../shared/check, they look at the same installation.
"""
import os
import re
import shutil
import sys
import tempfile

from tap import ROOT, Tap, faults_of, installer, pkg_config_env, run, text_of

OUTSIDE = os.path.join(ROOT, "../shared")

EXAMPLE_OUTPUT = "tensor2:\n[[2.000 3.000 4.000]\n [6.000 7.000 8.000]]\n"

PROGRAM = """
#include <lightnet/lightnet.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    ln_context *ctx = ln_context_create();
    int failed = argc != 2 || ln_context_allow_output(ctx, "-") || ln_context_init(ctx, argv[1]) ||
                 ln_context_compile(ctx, "cpu") || ln_context_load(ctx, NULL) || ln_context_run(ctx);
    if (failed)
        fprintf(stderr, "%s\\n", ln_context_error(ctx));
    ln_context_free(ctx);
    return failed;
}
"""

# The kernel that the example of docs/operator-descriptions.md calls.
KERNELS = """
#include <tensorlight/tensorlight.h>
int my_scale(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, double factor);
"""


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def program_works(prefix, folder):
    """A program built with nothing but pkg-config runs with nothing but its name."""
    source = write(folder, "program.c", PROGRAM)
    program = os.path.join(folder, "program")
    build = f"gcc -std=c11 -Wall -Wextra -Werror {source} -o {program} $(pkg-config --cflags --libs lightnet)"
    faults = faults_of(["sh", "-c", build], env=pkg_config_env(prefix))
    if faults:
        return faults
    status, output = run([program, os.path.join(ROOT, "examples/example.json")], env=pkg_config_env(prefix))
    return [] if (status, output) == (0, EXAMPLE_OUTPUT) else [f"exit status {status}", output]


def command_works(prefix):
    command = [os.path.join(prefix, "bin/lightnet"), os.path.join(ROOT, "examples/example.json")]
    status, output = run(command, env=pkg_config_env(prefix))
    return [] if status == 0 and EXAMPLE_OUTPUT in output else [f"exit status {status}", output]


def written_block(title, first):
    """The indented block that begins with the line `first`, in a section of docs/operator-descriptions.md."""
    section = text_of("docs/operator-descriptions.md").split(f"## {title}\n")[1].split("\n## ")[0]
    lines = section[section.index("    " + first):].splitlines()
    end = next((i for i, line in enumerate(lines) if line and not line.startswith("    ")), len(lines))
    return "\n".join(line[4:] for line in lines[:end]) + "\n"


def descriptions_work(prefix, folder):
    """An operator of one's own, as docs/operator-descriptions.md has it, is built with the installation and passes its examples."""
    place = os.path.join(folder, "operator")
    os.mkdir(place)
    write(place, "my_kernels.h", KERNELS)
    write(place, "my.op", written_block("An example", "// Scales."))
    write(place, "my_scale.c", written_block("Use in a program", "#include <lightnet/lightnet.h>"))
    env = pkg_config_env(prefix)
    env["PATH"] = os.path.join(prefix, "bin") + os.pathsep + env["PATH"]
    commands = written_block("Use in a program", "ln-opgen my.op").replace("gcc ", "gcc -std=c11 -Wall -Wextra -Werror ")
    status, output = run(["sh", "-c", commands], env=env, cwd=place)
    tested = re.search(r"^ok \d+ - .*scale", output, re.M)
    return [] if status == 0 and tested else [f"exit status {status}", *output.splitlines()[-30:]]


def inherited_descriptions_work(prefix, folder):
    """LightNet's own descriptions are installed, for others to inherit from."""
    op = write(folder, "sloped.op", '{"ops": [{"optype": "sloped", "author": "a", "inherits": "relu"}]}')
    return faults_of([os.path.join(prefix, "bin/ln-opgen"), op, "-I", os.path.join(prefix, "share/lightnet/op"),
                      "-o", os.path.join(folder, "sloped.c")], env=pkg_config_env(prefix))


# A target of one's own, with the installed generators, descriptions, headers and test program only.
TARGET = """
data=$(pkg-config --variable=datadir lightnet)
inherit="-I $data/op -I $data/op/cpu"
ln-opgen $inherit -o toy_op.c toy.op && ln-opgen --list toy $inherit -o ln_ops_toy.h toy.op &&
ln-optgen -o ln_rules_toy.c --header ln_rules_toy.h --tests rules_test.c toy.opt &&
gcc -std=c11 -Wall -Werror -I. -I$data/test -o rules_test ln_arch_toy.c toy_op.c ln_rules_toy.c rules_test.c \
    $data/test/ln_rule_check.c $(pkg-config --cflags --libs lightnet) -lm && ./rules_test
"""


def targets_work(prefix, folder):
    """The target of tests/gen can be built and its rules tested without LightNet's sources."""
    place = os.path.join(folder, "target")
    os.mkdir(place)
    for name in "toy.op", "toy.opt", "ln_arch_toy.c":
        shutil.copy(os.path.join(ROOT, "tests/gen", name), place)
    env = pkg_config_env(prefix)
    env["PATH"] = os.path.join(prefix, "bin") + os.pathsep + env["PATH"]
    status, output = run(["sh", "-c", TARGET], env=env, cwd=place)
    tested = re.search(r"^ok \d+ - max_of_relu, model 1", output, re.M)
    return [] if status == 0 and tested else [f"exit status {status}", *output.splitlines()[-30:]]


def plugin_works(prefix, folder):
    """examples/plugin, built in an empty folder, passes its own tests and serves the command line and a program."""
    place = os.path.join(folder, "plugin")
    shutil.copytree(os.path.join(ROOT, "examples/plugin"), place)
    env = pkg_config_env(prefix)
    env["CFLAGS"] = "-std=c11 -O2 -Wall -Wextra -Werror"
    env.pop("LIGHTNET_PLUGIN_PATH", None)
    lightnet = os.path.join(prefix, "bin/lightnet")
    for command, wanted in [
        ("make", None),
        ("make check", r"^ok 12 - squareplus[^#]*^ok 3 - relu_of_squareplus"),
        (f"{lightnet} run squareplus.json --plugin squareplus.so --print-all", r"^\[0.303 0.500 1.000 2.000 3.303\]$"),
        (f"LIGHTNET_PLUGIN_PATH=. {lightnet} ops", r"^  squareplus_cpu .*\(plug-in squareplus, /.*/squareplus.so\)$"),
        (f"! {lightnet} run squareplus.json", r"unknown optype 'squareplus'"),
        ("make program && ./program", r"^0.3028\n0.5000\n1.0000\n2.0000\n3.3028$"),
    ]:
        status, output = run(["sh", "-c", command], env=env, cwd=place)
        if status != 0 or (wanted and not re.search(wanted, output, re.M | re.S)):
            yield "\n".join([f"{command}: exit status {status}", *output.splitlines()[-30:]])


def without_manual(prefix):
    for program in sorted(os.listdir(os.path.join(prefix, "bin"))):
        if not os.path.exists(os.path.join(prefix, f"share/man/man1/{program}.1")):
            yield f"{program} has no page in share/man/man1"


def paths_of_the_build(prefix, build):
    """Installed files that name the folder they were built in; debugging information aside, none should."""
    for folder, _, names in os.walk(prefix):
        for path in (os.path.join(folder, name) for name in names):
            if path.endswith((".pc", ".cmake")) or "/include/" in path:
                text = open(path, encoding="utf-8").read()
                if build in text or re.search(r"^prefix=/", text, re.M):
                    yield f"{os.path.relpath(path, prefix)} names a fixed folder"


def elf_files(prefix):
    """The programs, libraries and plug-ins, links aside."""
    for folder, _, names in os.walk(prefix):
        for path in (os.path.join(folder, name) for name in sorted(names)):
            if not os.path.islink(path) and open(path, "rb").read(4) == b"\x7fELF":
                yield path


# Objects that every installation has.
OBJECTS = {"bin/genwts", "bin/il2json", "bin/lightnet", "lib/liblightnet.so", "lib/libtensorlight.so"}

# The output of `readelf -W --dynamic --program-headers --notes --dyn-syms` for a hardened object.
HARDENING = [
    ("a stack protector", r"__stack_chk_fail"),
    ("read-only relocations", r"GNU_RELRO"),
    ("immediate binding", r"BIND_NOW"),
    ("a stack that is not executable", r"GNU_STACK .* RW "),
]
if os.uname().machine == "x86_64":
    HARDENING.append(("a mark for shadow stacks", r"SHSTK"))


def weaknesses(prefix):
    """Objects that lack a protection, and functions that copy unchecked where a checked one is known to be used."""
    objects = list(elf_files(prefix))
    missing = OBJECTS - {re.sub(r"\.so\.[\d.]+$", ".so", os.path.relpath(path, prefix)) for path in objects}
    if missing:
        yield f"no object {', '.join(sorted(missing))} is installed"
    for path in objects:
        status, output = run(["readelf", "-W", "--dynamic", "--program-headers", "--notes", "--dyn-syms", path])
        if status:
            yield f"readelf {path}: exit status {status}"
        for name, pattern in HARDENING:
            if not re.search(pattern, output):
                yield f"{os.path.relpath(path, prefix)} has no {name}"
    _, symbols = run(["readelf", "-W", "--dyn-syms", os.path.join(prefix, "lib/liblightnet.so")])
    if "__snprintf_chk" not in symbols:
        yield "lib/liblightnet.so calls no checked function of _FORTIFY_SOURCE"


# Functions that start or wait for processes.
PROCESSES = r"\b(v?fork|clone3?|execv\w*|execl\w*|posix_spawnp?|system|popen|wait|waitpid|waitid|wait3|wait4)\b"


def processes(prefix):
    """Libraries that need the preprocessor's library, or call functions that start processes."""
    for name in "liblightnet.so", "libtensorlight.so":
        path = os.path.join(prefix, "lib", name)
        _, dynamic = run(["readelf", "-W", "--dynamic", path])
        _, symbols = run(["nm", "-D", "--undefined-only", path])
        if "NEEDED" not in dynamic or "malloc" not in symbols:
            yield f"{name}: nothing can be read of it"
        if "libmcpp" in dynamic:
            yield f"{name} needs libmcpp"
        yield from (f"{name} calls {found[0]}" for found in re.finditer(PROCESSES, re.sub(r"@\S*", "", symbols)))


def wrong_sonames(prefix):
    """The number in a library's SONAME is LN_PLUGIN_ABI."""
    abi = re.search(r"#define LN_PLUGIN_ABI (\d+)", text_of("lightnet/include/lightnet/ln_plugin.h"))[1]
    for name in "liblightnet.so", "libtensorlight.so":
        _, output = run(["readelf", "-W", "--dynamic", os.path.join(prefix, "lib", name)])
        if f"[{name}.{abi}]" not in output:
            yield f"{name}: the SONAME is not {name}.{abi}"


def replaces_files(build, prefix):
    """Installing again gives each file a new inode, so that programs that run from the old one are left alone, and removes
    files that only an older version had."""
    library = os.path.realpath(os.path.join(prefix, "lib/liblightnet.so"))
    before = os.stat(library).st_ino
    obsolete = write(os.path.join(prefix, "lib"), "libobsolete.so", "")
    with open(os.path.join(prefix, "share/lightnet/installed-files"), "a", encoding="utf-8") as file:
        file.write("lib/libobsolete.so\n")
    kept = os.open(library, os.O_RDONLY)  # so that the inode is not given to the new file
    yield from faults_of(installer(build, prefix), cwd=ROOT)
    os.close(kept)
    if os.stat(library).st_ino == before:
        yield "lib/liblightnet.so was written over"
    if os.path.exists(obsolete):
        yield "a file that is no longer part of LightNet is still there"


def respects_destdir(build, folder):
    """DESTDIR precedes the prefix, and `uninstall` leaves only files of others."""
    stage = os.path.join(folder, "stage")
    env = dict(os.environ, DESTDIR=stage)
    yield from faults_of(installer(build, "/opt/lightnet"), cwd=ROOT, env=env)
    prefix = os.path.join(stage, "opt/lightnet")
    if not os.path.exists(os.path.join(prefix, "bin/lightnet")) or os.path.exists("/opt/lightnet"):
        yield "the files are not below DESTDIR"
    write(os.path.join(prefix, "bin"), "other", "")
    yield from faults_of(["tools/uninstall", "/opt/lightnet"], cwd=ROOT, env=env)
    left = [os.path.relpath(os.path.join(place, name), prefix) for place, _, names in os.walk(prefix) for name in names]
    if left != ["bin/other"]:
        yield f"after uninstalling there are: {left}"
    folders = [os.path.relpath(os.path.join(place, name), prefix) for place, names, _ in os.walk(prefix) for name in names]
    if folders != ["bin"]:
        yield f"after uninstalling there are folders: {folders}"
    if not faults_of(["tools/uninstall", "/opt/lightnet"], cwd=ROOT, env=env):
        yield "uninstalling what is not installed succeeds"


def uninstall_removes_folders_that_were_made(build, folder):
    """Also those that an older installation has made; empty folders of others stay."""
    prefix = os.path.join(folder, "gone")
    for _ in range(2):
        yield from faults_of(installer(build, prefix), cwd=ROOT)
    yield from faults_of(["tools/uninstall", prefix], cwd=ROOT)
    if os.path.exists(prefix):
        yield f"after uninstalling there are: {list(os.walk(prefix))}"
    os.makedirs(os.path.join(prefix, "lib"))
    yield from faults_of(installer(build, prefix), cwd=ROOT)
    yield from faults_of(["tools/uninstall", prefix], cwd=ROOT)
    if os.listdir(prefix) != ["lib"]:
        yield f"after uninstalling there are: {os.listdir(prefix)}, expected the older folder lib"


def install_ends_with_the_line_for_path(build, folder):
    """It ends with a line for the shell, unless programs are found already, or were put into a stage."""
    prefix, stage = os.path.join(folder, "to run"), os.path.join(folder, "to ship")
    env = {name: value for name, value in os.environ.items() if name != "DESTDIR"}
    line = f'to run it: export PATH="{prefix}/bin:$PATH"'
    for last, variables in [
        (line, {}),
        (f"installed to {prefix}", {"PATH": f"{env['PATH']}:{prefix}/bin"}),
        (f"installed to {stage}{prefix}", {"DESTDIR": stage}),
    ]:
        status, output = run(installer(build, prefix), cwd=ROOT, env=dict(env, **variables))
        if status or output.splitlines()[-1:] != [last]:
            yield f"exit status {status}, expected the last line '{last}':\n{output}"


def make(*arguments, **variables):
    """(exit status, output) of `make` at the root, which neither looks for packages nor depends on the `make` that runs this test."""
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "DESTDIR")}
    return run(["make", "--assume-old=packages", *arguments], cwd=ROOT, env=dict(env, **variables))


def unusual_folders_work(build, folder):
    """`make` passes on folders as they are given: each of PREFIX, BUILD and DESTDIR may have blanks and quotes."""
    link, stage = os.path.join(folder, "a build's folder"), os.path.join(folder, "a  stage")
    os.symlink(build, link)
    home = os.path.join(folder, "my home")
    for prefix, place, variables in [
        (os.path.join(folder, "it's  here"), os.path.join(folder, "it's  here"), {}),
        ("/opt/light net", os.path.join(stage, "opt/light net"), {"DESTDIR": stage}),
        ("~/light net", os.path.join(home, "light net"), {"HOME": home}),
    ]:
        listed = os.path.join(place, "share/lightnet/installed-files")
        for goal, expected, there in ("install", f"installed to {place}", True), ("uninstall", f"removed from {place}", False):
            status, output = make(goal, f"PREFIX={prefix}", f"BUILD={link}", **variables)
            if status or expected not in output.splitlines() or os.path.exists(listed) != there:
                yield f"make {goal} PREFIX='{prefix}': exit status {status}, expected '{expected}':\n{output}"


def empty_prefixes_are_errors(build):
    for goal, expected in [
        ("install", "install: PREFIX is empty; expected the folder to install to, such as /usr/local"),
        ("uninstall", "uninstall: PREFIX is empty; expected the folder that LightNet is installed in, such as /usr/local"),
    ]:
        status, output = make(goal, "PREFIX=", f"BUILD={build}")
        if status == 0 or expected not in output.splitlines():
            yield f"make {goal} PREFIX=: exit status {status}, expected '{expected}':\n{output}"


def options_that_take_minutes():
    """Without options, nothing is compiled that takes minutes, wherever its compiler is."""
    value = re.search(r"^option\('cuda',.* value: '(\w+)'", text_of("meson_options.txt"), re.M)[1]
    if value != "disabled":
        yield f"the option cuda is {value}, expected disabled"


def outside_checks(tap, prefix):
    checks = [
        ("example", ["check/example", prefix]),
        ("api", ["check/api", prefix]),
        ("mnist", ["check/mnist", prefix]),
        ("mutate.py", ["check/mutate.py", os.path.join(prefix, "bin/lightnet"), os.path.join(OUTSIDE, "models"), "20"]),
    ]
    for name, command in checks:
        program = os.path.join(OUTSIDE, command[0])
        if os.path.exists(program):
            tap.check(f"check from outside: {name}", faults_of([program, *command[1:]]))
        else:
            tap.skip(f"check from outside: {name}", "there are no checks beside the project")


def main():
    build = os.path.abspath(sys.argv[1])
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lightnet-installed-") as folder:
        prefix = os.path.join(folder, "first")
        tap.check("it_installs", faults_of(installer(build, prefix), cwd=ROOT))
        tap.check("a_program_needs_pkg_config_only", program_works(prefix, folder))
        tap.check("nothing_names_a_fixed_folder", paths_of_the_build(prefix, build))
        tap.check("every_program_has_a_manual_page", without_manual(prefix))
        tap.check("an_operator_of_ones_own_passes_its_examples", descriptions_work(prefix, folder))
        tap.check("descriptions_can_inherit_from_ours", inherited_descriptions_work(prefix, folder))
        tap.check("a_target_with_rules_can_be_built_and_tested", targets_work(prefix, folder))
        tap.check("a_plugin_built_elsewhere_works", plugin_works(prefix, folder))
        tap.check("installed_objects_are_hardened", weaknesses(prefix))
        tap.check("the_libraries_start_no_process", processes(prefix))
        tap.check("sonames_have_the_number_of_the_binary_interface", wrong_sonames(prefix))
        tap.check("an_installation_replaces_files_and_removes_obsolete_ones", replaces_files(build, prefix))
        tap.check("destdir_is_respected_and_uninstall_leaves_nothing", respects_destdir(build, folder))
        tap.check("uninstall_removes_the_folders_that_were_made", uninstall_removes_folders_that_were_made(build, folder))
        tap.check("an_installation_ends_with_the_line_for_path", install_ends_with_the_line_for_path(build, folder))
        tap.check("folders_may_have_blanks_and_quotes", unusual_folders_work(build, folder))
        tap.check("the_target_cuda_is_built_on_request_only", options_that_take_minutes())
        tap.check("an_empty_prefix_is_an_error", empty_prefixes_are_errors(build))
        outside_checks(tap, prefix)
        moved = os.path.join(folder, "second")
        shutil.move(prefix, moved)
        tap.check("the_command_runs_where_it_was_moved_to", command_works(moved))
        tap.check("a_program_can_be_built_where_it_was_moved_to", program_works(moved, folder))
    tap.end()


if __name__ == "__main__":
    main()
