# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel of onnxruntime-lightnet (PEP 517), with Python's standard library.

    onnxruntime/__init__.py                    imports LightNet under this name
    onnxruntime_lightnet-VERSION.dist-info/    the distribution
    onnxruntime-VERSION.dist-info/             the same as `onnxruntime`, which other packages require and look for

A wheel has one folder of metadata, so the second one is installed as data. VERSION is that of the API, which
lightnet/_onnxruntime.py states; an sdist has it in PKG-INFO.
"""
import base64
import hashlib
import io
import pathlib
import re
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent
SUMMARY = "LightNet in place of onnxruntime, for all programs of an environment"
SOURCES = ["shim.py", "pyproject.toml", "onnxruntime/__init__.py"]
WHEEL = "Wheel-Version: 1.0\nGenerator: lightnet\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def _version():
    api = ROOT.parent / "lightnet/_onnxruntime.py"
    if api.exists():
        return re.search(r'^API_VERSION = "([^"]+)"', api.read_text(encoding="utf-8"), re.M)[1]
    return re.search(r"^Version: (\S+)", (ROOT / "PKG-INFO").read_text(encoding="utf-8"), re.M)[1]


def _metadata(name, requires):
    text = (f"Metadata-Version: 2.1\nName: {name}\nVersion: {_version()}\nSummary: {SUMMARY}\nLicense: Apache-2.0\n"
            f"Requires-Python: >=3.8\nRequires-Dist: {requires}\n")
    return text.encode()


def _with_record(folder, files, prefix=""):
    """The files of the wheel {name: bytes}, and a RECORD in `folder`; the names in it are without the prefix."""
    rows = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name[len(prefix):] if name.startswith(prefix) else name},sha256={digest},{len(data)}\n")
    record = f"{folder}/RECORD"
    return {**files, record: "".join([*rows, f"{record[len(prefix):]},,\n"]).encode()}


def _files():
    """{name in the wheel: bytes}"""
    module = {"onnxruntime/__init__.py": (ROOT / "onnxruntime/__init__.py").read_bytes()}
    base, data = f"onnxruntime_lightnet-{_version()}", f"onnxruntime_lightnet-{_version()}.data/purelib/"
    info, alias = f"{base}.dist-info", f"{data}onnxruntime-{_version()}.dist-info"
    names = {"top_level.txt": b"onnxruntime\n"}
    as_onnxruntime = {"METADATA": _metadata("onnxruntime", "onnxruntime-lightnet"), "INSTALLER": b"onnxruntime-lightnet\n", **names}
    installed = _with_record(alias, {**module, **{f"{alias}/{name}": text for name, text in as_onnxruntime.items()}}, data)
    own = {"METADATA": _metadata("onnxruntime-lightnet", "lightnet"), "WHEEL": WHEEL.encode(), **names}
    return _with_record(info, {**installed, **{f"{info}/{name}": text for name, text in own.items()}})


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds onnxruntime_lightnet-VERSION-py3-none-any.whl. Returns its name."""
    name = f"onnxruntime_lightnet-{_version()}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in _files().items():
            wheel.writestr(zipfile.ZipInfo(path), data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """Packs the sources. Returns the archive's name."""
    base = f"onnxruntime_lightnet-{_version()}"
    with tarfile.open(pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz") as archive:
        for name in SOURCES:
            archive.add(ROOT / name, f"{base}/{name}")
        data = _metadata("onnxruntime-lightnet", "lightnet")
        entry = tarfile.TarInfo(f"{base}/PKG-INFO")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return f"{base}.tar.gz"
