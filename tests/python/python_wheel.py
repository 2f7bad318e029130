#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: python_wheel.py BUILD. The wheels of python/backend.py, of what is in the build folder already."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../structure"), os.path.join(HERE, "../../python")]

import backend
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
                        ("without_numpy_pip_fails_before_it_compiles", check_missing_numpy)):
        with tempfile.TemporaryDirectory(prefix="lightnet-test-wheel-") as folder:
            faults = check(pathlib.Path(folder))
            if faults is None:
                tap.skip(name, "Python has no venv (python3-venv)")
            else:
                tap.check(name, faults)
    tap.end()


if __name__ == "__main__":
    main()
