#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: python_wheel.py BUILD. The wheels of python/backend.py, of what is in the build folder already."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../structure"), os.path.join(HERE, "../../python")]

import backend
import manylinux
from tap import ROOT, Tap

BUILT = pathlib.Path(sys.argv[1]).resolve()
FOLDERS = {"liblightnet": BUILT / "lightnet", "libtensorlight": BUILT / "tensorlight"}


def stage_of_build(stage):
    """In place of compiling: what `meson install` puts there."""
    files = [("python", BUILT / "python/lightnet/_lightnet.abi3.so"), ("bin", BUILT / "cli/lightnet")]
    for name, folder in FOLDERS.items():
        files += [("lib", path) for path in folder.glob(f"{name}.so*") if path.is_file() and path.suffix != ".symbols"]
    for folder, path in files:
        (stage / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, stage / folder / path.name)


def run_python(code, **env):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/", env={**os.environ, **env})


def packed_modules():
    package = pathlib.Path(ROOT, "python/lightnet")
    return {f"lightnet/{path.relative_to(package)}" for path in package.rglob("*.py")}


def check_wheel(folder):
    with zipfile.ZipFile(folder / backend.build_wheel(folder)) as wheel:
        names = set(wheel.namelist())
        wheel.extractall(folder / "installed")
        texts = {name: wheel.read(name).decode("utf-8", "replace") for name in names if "/licenses/" in name}
    faults = [f"no {name}" for name in packed_modules() | {"lightnet/py.typed", "lightnet/LICENSE"} if name not in names]
    libraries = [name for name in names if name.startswith("lightnet/lib/") and not name[13:].startswith(tuple(FOLDERS))]
    if shutil.which("dpkg"):
        faults += [f"{len(texts)} licences for {sorted(libraries)}"] if len(texts) != len(libraries) else []
        faults += [f"{name} has no copyright" for name, text in texts.items() if "opyright" not in text]
    done = run_python("import lightnet; print(lightnet.__file__)", PYTHONPATH=str(folder / "installed"))
    return faults + ([] if str(folder / "installed") in done.stdout else [done.stdout + done.stderr])


def versions_of(path):
    """The versions of glibc in readelf's listing of an ELF file; packed relocations are those of 2.36."""
    listing = subprocess.run(["readelf", "-V", str(path)], check=True, capture_output=True, text=True).stdout
    names = re.findall(r"Name: GLIBC_(\S+)", listing)
    return [tuple(map(int, ("2.36" if name == "ABI_DT_RELR" else name).split(".")[:2])) for name in names]


def printed(*arguments):
    """(exit status, output) of the command manylinux.py."""
    done = subprocess.run([sys.executable, manylinux.__file__, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout


def check_tag(folder):
    """The tag names the newest glibc of the wheel's files; pip takes the wheel."""
    if shutil.which("readelf") is None or not sys.platform.startswith("linux"):
        return None
    name = backend.build_wheel(folder)
    with zipfile.ZipFile(folder / name) as wheel:
        wheel.extractall(folder / "installed")
        tag = re.search(r"^Tag: (\S+)$", wheel.read(f"lightnet-{backend._version()}.dist-info/WHEEL").decode(), re.M)[1]
    programs = [path for path in (folder / "installed").rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    newest = max(version for path in programs for version in versions_of(path))
    machine = os.uname().machine
    wanted = f"cp38-abi3-manylinux_{newest[0]}_{newest[1]}_{machine}"
    faults = [] if tag == wanted and name.endswith(f"-{wanted}.whl") else [f"{name}, tag {tag}, expected {wanted}"]
    faults += [] if printed(folder / name)[0] == 0 else [printed(folder / name)[1]]
    other = folder / name.replace(wanted, f"cp38-abi3-linux_{machine}")
    shutil.copy(folder / name, other)
    status, text = printed(other)
    faults += [] if status == 1 and wanted[len("cp38-abi3-"):] in text else [f"status {status}: {text}"]
    if subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], capture_output=True).returncode == 0:
        done = subprocess.run([str(folder / "venv/bin/pip"), "install", "--no-index", "--no-deps", str(folder / name)], capture_output=True, text=True)
        faults += [] if done.returncode == 0 else [done.stdout + done.stderr]
    return faults


def check_other_platforms(folder):
    """Files without glibc, of other systems, or with a library that is missing keep the machine's tag."""
    extension = (BUILT / "python/lightnet/_lightnet.abi3.so").read_bytes()
    cases = [({"a.py": b"x"}, "linux_x86_64", "linux_x86_64"), ({"x/_lightnet.so": extension}, "linux_x86_64", "linux_x86_64"),
             ({"libc.musl-x86_64.so.1": b"x"}, "linux_x86_64", "linux_x86_64"), ({}, "macosx_11_0_arm64", "macosx_11_0_arm64")]
    faults = [f"{list(files)}: {manylinux.platform_of(files, given)}" for files, given, wanted in cases if manylinux.platform_of(files, given) != wanted]
    names = {"libc.musl-x86_64.so.1": True, "ld-musl-x86_64.so.1": True, "libm.so.6": True, "libcrypto.so.3": False, "libmagic.so.1": False}
    return faults + [f"{name} counts as {not wanted}" for name, wanted in names.items() if bool(manylinux.C_LIBRARY.match(name)) != wanted]


def check_damaged(folder):
    """Damaged ELF files are reported, whichever bytes are damaged."""
    whole = (BUILT / "python/lightnet/_lightnet.abi3.so").read_bytes()
    n = 0
    head = [whole[:at] + bytes([whole[at] ^ 0xff]) + whole[at + 1:] for at in range(4, 800)]
    damaged = [*head, *(whole[:size] for size in range(0, len(whole), 701))]
    for data in damaged:
        with contextlib.suppress(ValueError):
            manylinux.glibc_of(data)
            manylinux.Elf(data).libraries()
            n += 1
    status, text = printed(os.path.join(ROOT, "LICENSE"), "/none")
    return ([] if n < len(damaged) - 100 else ["no damage was found"]) + ([] if status == 1 and "not an ELF file" in text else [text])


def check_source_folder(folder):
    """In the root of the sources, the folder of C with the package's name stands for the package."""
    def run_in_root(code, path, *flags):
        done = subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": path})
        return done.stdout + done.stderr
    text = run_in_root("import lightnet", str(folder), "-S")  # without what is installed
    faults = [] if "ImportError: lightnet is not installed" in text and "pip install" in text else [text]
    code = "import lightnet, lightnet.capi._pybind_state as C; print(lightnet.__file__, C.Fail is lightnet.Fail)"
    text = run_in_root(code, f"{ROOT}:{BUILT / 'python'}")
    return faults + ([] if text.strip() == f"{BUILT / 'python/lightnet/__init__.py'} True" else [text])


def check_sdist(folder):
    """The sdist has what git tracks, with both distributions."""
    with tarfile.open(folder / backend.build_sdist(folder)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tracked = set(subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines())
    needed = {"pyproject.toml", "python/backend.py", "python/manylinux.py", "python/onnxruntime/pyproject.toml",
              "python/onnxruntime/onnxruntime/__init__.py", "lightnet/__init__.py"}
    return [f"no {name}" for name in sorted((tracked | needed | {"PKG-INFO"}) - names)]


def check_editable(folder):
    backend.BUILD = folder / "build"
    with zipfile.ZipFile(folder / backend.build_editable(folder)) as wheel:
        names = set(wheel.namelist())
        wheel.extractall(folder / "site")
    faults = [f"{name} is in the wheel" for name in names if name.startswith("lightnet/")]
    faults += [] if any(name.endswith(".dist-info/METADATA") for name in names) else ["no METADATA"]
    code = "import site; site.addsitedir({!r}); import lightnet, os; print(os.path.realpath(lightnet.__file__))"
    done = run_python(code.format(str(folder / "site")))
    wanted = os.path.join(ROOT, "python/lightnet/__init__.py")
    return faults + ([] if done.stdout.strip() == os.path.realpath(wanted) else [f"{done.stdout}{done.stderr}, expected {wanted}"])


def check_metadata(folder):
    """The hooks write what the wheel has, and compile nothing."""
    def compile_nothing(stage):
        raise AssertionError("the metadata compiles LightNet")

    compiled, backend._compile = backend._compile, compile_nothing
    try:
        faults = []
        for hook in (backend.prepare_metadata_for_build_wheel, backend.prepare_metadata_for_build_editable):
            target = folder / hook.__name__
            target.mkdir(exist_ok=True)
            text = (target / hook(str(target)) / "METADATA").read_text(encoding="utf-8")
            faults += [] if "\nRequires-Dist: numpy\n" in text else ["the metadata does not require NumPy"]
            faults += [] if text == backend._metadata() else ["the metadata is not the wheel's"]
        return faults
    finally:
        backend._compile = compiled


def check_missing_numpy(folder):
    """pip fails before it compiles: no folder of a build appears."""
    venv = subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], capture_output=True, text=True)
    if venv.returncode:
        return None
    sources = folder / "clone"
    shutil.copytree(os.path.join(ROOT, "python"), sources / "python")
    for name in ("pyproject.toml", "meson.build", "LICENSE"):
        shutil.copy2(os.path.join(ROOT, name), sources / name)
    done = subprocess.run([str(folder / "venv/bin/pip"), "install", "--no-index", "--no-cache-dir", str(sources)],
                          capture_output=True, text=True)
    faults = [] if done.returncode and "numpy" in done.stdout + done.stderr else [done.stdout + done.stderr]
    return faults + (["pip compiled first"] if (sources / "build-python").exists() else [])


def main():
    tap = Tap()
    backend._compile = stage_of_build
    os.environ["LD_LIBRARY_PATH"] = ":".join(map(str, FOLDERS.values()))
    for name, check in (("a_wheel_has_modules_libraries_and_licences", check_wheel),
                        ("an_editable_wheel_refers_to_the_clone", check_editable),
                        ("metadata_compiles_nothing", check_metadata),
                        ("the_sdist_has_what_git_tracks", check_sdist),
                        ("the_source_folder_stands_for_the_package", check_source_folder),
                        ("the_tag_is_that_of_the_newest_glibc", check_tag),
                        ("other_platforms_keep_their_tag", check_other_platforms),
                        ("damaged_programs_are_errors", check_damaged),
                        ("without_numpy_pip_fails_before_it_compiles", check_missing_numpy)):
        with tempfile.TemporaryDirectory(prefix="lightnet-test-wheel-") as folder:
            faults = check(pathlib.Path(folder))
            if faults is None:
                tap.skip(name, "needs venv (python3-venv) or readelf (binutils)")
            else:
                tap.check(name, faults)
    tap.end()


if __name__ == "__main__":
    main()
