#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: dropin.py PACKAGE. LightNet as `onnxruntime`: by as_onnxruntime(), and by the distribution onnxruntime-lightnet, for
programs as libraries write them (dropin/use_*.py), with the package in the folder PACKAGE."""
import glob
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [sys.argv[1], os.path.join(HERE, "../structure"), os.path.join(HERE, "dropin")]

import models
from tap import ROOT, Tap

import lightnet

DISTRIBUTION = os.path.join(ROOT, "python/onnxruntime")
REGISTER = """import sys, lightnet
lightnet.as_onnxruntime()
import runpy
sys.argv = sys.argv[1:]
sys.path[0] = {folder!r}
runpy.run_path(sys.argv[0], run_name="__main__")
"""

# What programs see whichever way the name was given.
IDENTITY = """
import importlib.metadata, importlib.util, sys
version = importlib.metadata.version("onnxruntime")
assert importlib.util.find_spec("onnxruntime") is not None
import onnxruntime, lightnet
import onnxruntime.capi.onnxruntime_pybind11_state as state
from onnxruntime.capi import _pybind_state as C
from onnxruntime.capi.onnxruntime_pybind11_state import *
assert onnxruntime.__version__ == onnxruntime.get_version_string() == version == onnxruntime.version, version
assert lightnet.__version__ != version
for name in ("InvalidArgument", "Fail", "NoSuchFile", "InvalidGraph", "RuntimeException"):
    assert getattr(state, name) is getattr(onnxruntime, name) is getattr(lightnet, name) is getattr(C, name), name
assert state.NotImplemented is lightnet.NotImplemented and NotImplemented is not None
assert onnxruntime.InferenceSession is lightnet.InferenceSession is onnxruntime.capi.onnxruntime_inference_collection.InferenceSession
assert sys.modules["onnxruntime"] is onnxruntime is lightnet.as_onnxruntime()
import lightnet.quantization
from onnxruntime.quantization import QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
assert quantize_static is lightnet.quantization.quantize_static and QuantType is lightnet.quantization.QuantType
copies = [name for name in sys.modules if name.startswith("onnxruntime.") and sys.modules[name] is not sys.modules["lightnet" + name[11:]]]
assert not copies, copies
assert lightnet.capi.onnxruntime_pybind11_state.__spec__.name == "lightnet.capi.onnxruntime_pybind11_state"
assert importlib.util.find_spec("onnxruntime.training") is None
try:
    onnxruntime.InferenceSession(b"damaged")
    raise AssertionError("no error")
except state.InvalidProtobuf as error:
    assert type(error) is lightnet.InvalidProtobuf
try:
    import onnxruntime.training
    raise AssertionError("there is no such module")
except ModuleNotFoundError as error:
    assert error.name == "onnxruntime.training", error.name
assert "InferenceSession" in dir(onnxruntime) and onnxruntime.__name__ == "onnxruntime"
"""


def run(command, **env):
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", env={**os.environ, **env})
    return [] if done.returncode == 0 else [done.stdout + done.stderr]


def wheel_of(folder, project=DISTRIBUTION):
    """The wheel of the distribution, in `folder`."""
    code = f"import sys; sys.path.insert(0, {project!r}); import shim; print(shim.build_wheel({str(folder)!r}))"
    name = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    return folder / name


def installed(wheel, folder):
    """Unpacks a wheel as pip does. Returns the folder for PYTHONPATH."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    for data in folder.glob("*.data/purelib/*"):
        shutil.move(str(data), str(folder / data.name))
    return folder


def ways(site):
    """{name: (function from a script and its arguments to the command, PYTHONPATH)}"""
    package = os.path.abspath(sys.argv[1])
    return {"as_onnxruntime": (lambda script, *args: [sys.executable, "-c", REGISTER.format(folder=os.path.dirname(script)), script, *args], package),
            "distribution": (lambda script, *args: [sys.executable, script, *args], f"{site}:{package}")}


def check_libraries(tap, folder, site):
    scripts = sorted(glob.glob(os.path.join(HERE, "dropin/use_*.py")))
    for script in scripts:
        name = os.path.basename(script)[len("use_"):-len(".py")]
        make = models.MAKERS[name]
        argument = make(str(folder / f"{name}.onnx")) if make else str(folder)
        for way, (command, path) in ways(site).items():
            tap.check(f"{name}_runs_with_{way}", run(command(script, argument), PYTHONPATH=path))
    tap.check("all_libraries_are_tried", [] if len(scripts) == len(models.MAKERS) == 8 else [f"{len(scripts)} scripts"])


def check_identity(tap, folder, site):
    script = folder / "identity.py"
    script.write_text(IDENTITY)
    for way, (command, path) in ways(site).items():
        tap.check(f"names_exist_once_with_{way}", run(command(str(script)), PYTHONPATH=path))


def check_order(folder):
    """Another onnxruntime that is imported already is an error, and stays."""
    (folder / "onnxruntime").mkdir()
    (folder / "onnxruntime/__init__.py").write_text("__version__ = 'other'\n")
    code = ("import onnxruntime, lightnet\ntry:\n    lightnet.as_onnxruntime()\nexcept ImportError as error:\n"
            "    assert 'before the first import' in str(error), error\nelse:\n    raise AssertionError('no error')\n"
            "assert onnxruntime.__version__ == 'other'")
    first = "import lightnet; lightnet.as_onnxruntime(); import onnxruntime; assert onnxruntime.__version__ == lightnet.version"
    path = f"{folder}:{os.path.abspath(sys.argv[1])}"
    return run([sys.executable, "-c", code], PYTHONPATH=path) + run([sys.executable, "-c", first], PYTHONPATH=path)


def check_wheel(wheel):
    """RECORD names each file, with its digest, and the metadata of both names is complete."""
    version = lightnet.version
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        record = archive.read(f"onnxruntime_lightnet-{version}.dist-info/RECORD").decode()
        alias = f"onnxruntime_lightnet-{version}.data/purelib/onnxruntime-{version}.dist-info/"
        metadata = archive.read(alias + "METADATA").decode()
        inner = archive.read(alias + "RECORD").decode()
    listed = {line.split(",")[0] for line in record.splitlines()}
    faults = [f"{name} is not in RECORD" for name in names - listed] + [f"{name} is not in the wheel" for name in listed - names]
    faults += [] if f"\nName: onnxruntime\nVersion: {version}\n" in metadata else [metadata]
    wanted = {"onnxruntime/__init__.py", *(f"onnxruntime-{version}.dist-info/{n}" for n in ("METADATA", "INSTALLER", "RECORD", "top_level.txt"))}
    seen = {line.split(",")[0] for line in inner.splitlines()}
    return faults + ([] if seen == wanted else [f"{sorted(seen)}, expected {sorted(wanted)}"])


def check_sdist(folder):
    """A wheel of the unpacked sdist is the same: it has the version without the tree."""
    code = f"import sys; sys.path.insert(0, {DISTRIBUTION!r}); import shim; print(shim.build_sdist({str(folder)!r}))"
    name = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    shutil.unpack_archive(str(folder / name), str(folder / "unpacked"))
    sources = folder / "unpacked" / name[:-len(".tar.gz")]
    (folder / "tree").mkdir()
    (folder / "sdist").mkdir()
    pairs = wheel_of(folder / "tree"), wheel_of(folder / "sdist", str(sources))
    contents = [{name: zipfile.ZipFile(path).read(name) for name in zipfile.ZipFile(path).namelist()} for path in pairs]
    return [] if contents[0] == contents[1] else ["the wheels differ"]


def check_pip(folder):
    """pip installs it without an index, finds requirements of the name satisfied, and removes it."""
    venv = subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(folder / "venv")], capture_output=True, text=True)
    if venv.returncode:
        return None
    pip = [str(folder / "venv/bin/pip"), "--disable-pip-version-check", "--no-cache-dir"]
    site = next((folder / "venv/lib").glob("python3*/site-packages"))
    (site / "lightnet-1.dist-info").mkdir()  # of the build folder, in place of its wheel
    (site / "lightnet-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: lightnet\nVersion: 1\n")
    (site / "lightnet-1.dist-info/INSTALLER").write_text("test\n")
    (site / "lightnet.pth").write_text(os.path.abspath(sys.argv[1]) + "\n")
    faults = run([*pip, "install", "--no-index", DISTRIBUTION])
    faults += run([*pip, "install", "--no-index", "onnxruntime>=1.17,<2"])
    faults += run([str(folder / "venv/bin/python"), "-c", IDENTITY])
    faults += run([*pip, "uninstall", "--yes", "onnxruntime-lightnet"])
    return faults + [f"{path} is left" for path in site.glob("onnxruntime*")]


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lightnet-test-dropin-") as name:
        folder = pathlib.Path(name)
        wheel = wheel_of(folder)
        site = installed(wheel, folder / "site")
        check_identity(tap, folder, site)
        check_libraries(tap, folder, site)
        tap.check("the_wheel_is_complete", check_wheel(wheel))
        for title, check in (("another_onnxruntime_stays", check_order), ("the_sdist_builds_the_same_wheel", check_sdist),
                             ("pip_installs_and_removes_the_distribution", check_pip)):
            part = folder / title
            part.mkdir()
            faults = check(part)
            if faults is None:
                tap.skip(title, "Python has no venv (python3-venv)")
            else:
                tap.check(title, faults)
    tap.end()


if __name__ == "__main__":
    main()
