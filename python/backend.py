# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel (PEP 517): compiles LightNet with Meson, and packs the package, the libraries and the command.

It uses the standard library alone, so `pip install .` needs no network. Meson and Ninja are those of the system
(tools/packages lists what is needed). The wheel has its libraries in it, but for the C library's:

    lightnet/*.py                the package
    lightnet/_lightnet.abi3.so   the extension, for CPython 3.8 and later
    lightnet/lib/                LightNet, TensorLight, and the libraries that they need
    lightnet/bin/lightnet        the command
    lightnet/licenses/           the licences of those libraries, from /usr/share/doc

An editable wheel (PEP 660, `pip install -e .`) has the modules of the clone, and what was compiled in build-python/editable,
which it finds by a path file. Run pip again after a change of C.
"""
import base64
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

import manylinux

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-python"
OPTIONS = ["--buildtype=release", "--default-library=shared", "--prefix=/", "--libdir=lib", "-Dtests=disabled",
           "-Dtools=enabled", "-Ddnnl=disabled", "-Dcuda=disabled", "-Dserve=disabled",
           "-Dpython=enabled"]
# DT_RPATH, which also finds what the bundled libraries need themselves; and relocations that glibc before 2.36 reads, too.
LINK_ARGS = "-Wl,--disable-new-dtags -Wl,-z,nopack-relative-relocs"
SUMMARY = "Neural-network inference on the CPU, with the API of onnxruntime"
WHEEL = "Wheel-Version: 1.0\nGenerator: lightnet\nRoot-Is-Purelib: false\nTag: {tag}\n"
METADATA = """Metadata-Version: 2.1
Name: lightnet
Version: {version}
Summary: {summary}
License: Apache-2.0
Requires-Python: >=3.8
Requires-Dist: numpy
Description-Content-Type: text/markdown

{readme}"""
ENTRY_POINTS = "[console_scripts]\nlightnet = lightnet.__main__:main\n"


def _run(*command):
    """Without the paths of pip's isolated environment, which would hide Meson's own modules."""
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    subprocess.run([str(word) for word in command], check=True, cwd=ROOT, env=env)


def _version():
    return re.search(r"^  version: '([^']+)'", (ROOT / "meson.build").read_text(), re.M)[1]


def _tag(files=()):
    """The tag of a wheel with these files {name: bytes}; without them, that of this machine alone."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"cp38-abi3-{manylinux.platform_of(files, platform) if files else platform}"


def _compile(stage):
    """Compiles LightNet and installs it below `stage`."""
    if shutil.which("meson") is None or shutil.which("ninja") is None:
        raise SystemExit("Meson and Ninja are missing; `make packages` installs what LightNet is built with")
    is_new = not (BUILD / "build.ninja").exists()
    _run("meson", "setup", *([] if is_new else ["--reconfigure"]), BUILD, *OPTIONS, f"-Dpython_program={sys.executable}",
         f"-Dc_link_args={os.environ.get('LDFLAGS', '')} {LINK_ARGS}")
    _run("ninja", "-C", BUILD)
    _run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", stage)


def _needed(library):
    """The libraries that `library` needs, but for those of the C library: {name: path}."""
    listing = subprocess.run(["ldd", str(library)], check=True, capture_output=True, text=True).stdout
    pairs = re.findall(r"^\s*(\S+) => (\S+)", listing, flags=re.M)
    return {name: path for name, path in pairs if not manylinux.C_LIBRARY.match(name)}


def _collect(stage):
    """{name in the wheel: path}"""
    lib = stage / "lib"
    package = ROOT / "python/lightnet"
    files = {f"lightnet/{path.relative_to(package)}": path for path in package.rglob("*.py")}
    files["lightnet/py.typed"] = ROOT / "python/lightnet/py.typed"
    files["lightnet/_lightnet.abi3.so"] = next(stage.rglob("_lightnet.abi3.so"))
    files["lightnet/bin/lightnet"] = stage / "bin/lightnet"
    files["lightnet/LICENSE"] = ROOT / "LICENSE"
    for name, path in _needed(next(lib.glob("liblightnet.so"))).items():
        files[f"lightnet/lib/{name}"] = pathlib.Path(path)
    for name in ("liblightnet", "libtensorlight"):
        path = next(path for path in lib.glob(f"{name}.so.*") if path.name.count(".") == 2)
        files[f"lightnet/lib/{path.name}"] = path
    bundled = {name: path for name, path in files.items() if name.startswith("lightnet/lib/") and stage not in path.parents}
    return {**files, **_licences(bundled)}


def _licences(files):
    """{name in the wheel: path} of the licences of the bundled libraries that are of Debian's packages."""
    licences = {}
    for path in files.values():
        package = _package_of(path)
        text = pathlib.Path("/usr/share/doc") / package / "copyright" if package else None
        if text and text.exists():
            licences[f"lightnet/licenses/{package}.txt"] = text.resolve()
    return licences


def _package_of(path):
    """The Debian package that has installed a file outside of LightNet, or None."""
    if ROOT in path.resolve().parents or shutil.which("dpkg") is None:
        return None
    # The merged /usr: packages may have a file's name in /lib.
    names = {str(path), str(path.resolve()), str(path.resolve()).replace("/usr/lib/", "/lib/", 1)}
    done = subprocess.run(["dpkg", "-S", *sorted(names)], capture_output=True, text=True)
    found = re.search(r"^([^:,\s]+)[:,]", done.stdout, re.M)
    return found and found[1]


def _digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _write_wheel(path, files):
    """files: {name: bytes}; programs and libraries may be executed."""
    info = f"lightnet-{_version()}.dist-info"
    record = [f"{name},{_digest(data)},{len(data)}" for name, data in files.items()] + [f"{info}/RECORD,,"]
    files = {**files, f"{info}/RECORD": ("\n".join(record) + "\n").encode()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/bin/" in name or ".so" in name else 0o100644) << 16
            wheel.writestr(entry, data)


def _metadata():
    readme = (ROOT / "python/README.md").read_text(encoding="utf-8")
    return METADATA.format(version=_version(), summary=SUMMARY, readme=readme)


def _info_files(tag):
    info = f"lightnet-{_version()}.dist-info"
    texts = {"METADATA": _metadata(), "WHEEL": WHEEL.format(tag=tag), "entry_points.txt": ENTRY_POINTS}
    return {f"{info}/{name}": text.encode() for name, text in texts.items()}


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Writes the metadata, so that pip looks for NumPy before it compiles. Returns the folder's name."""
    for name, data in _info_files(_tag()).items():
        path = pathlib.Path(metadata_directory) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return f"lightnet-{_version()}.dist-info"


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds lightnet-VERSION-cp38-abi3-PLATFORM.whl, whose platform is what its files need. Returns its name."""
    with tempfile.TemporaryDirectory(prefix="lightnet-wheel-") as folder:
        stage = pathlib.Path(folder)
        _compile(stage)
        files = {name: path.read_bytes() for name, path in sorted(_collect(stage).items())}
    tag = _tag(files)
    name = f"lightnet-{_version()}-{tag}.whl"
    _write_wheel(pathlib.Path(wheel_directory) / name, {**files, **_info_files(tag)})
    return name


def _lay_out(folder, files):
    """Makes the new `folder` a package: modules are links to the clone, other files are copies."""
    for name, source in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if ROOT / "python" in source.parents:
            target.symlink_to(source)
        else:
            shutil.copy2(source.resolve(), target)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds a wheel that refers to this clone. Returns its name."""
    folder = BUILD / "editable"
    with tempfile.TemporaryDirectory(prefix="lightnet-editable-") as stage:
        _compile(pathlib.Path(stage))
        shutil.rmtree(folder, ignore_errors=True)  # modules that are gone
        _lay_out(folder, _collect(pathlib.Path(stage)))
    name, tag = f"lightnet-{_version()}-{_tag()}.whl", _tag()
    path_file = {"__editable__lightnet.pth": f"{folder}\n".encode()}
    _write_wheel(pathlib.Path(wheel_directory) / name, {**path_file, **_info_files(tag)})
    return name


def build_sdist(sdist_directory, config_settings=None):
    """Packs the files that git tracks. Returns the archive's name."""
    base = f"lightnet-{_version()}"
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    with tarfile.open(pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz") as archive:
        for name in listing.rstrip("\0").split("\0"):
            archive.add(ROOT / name, f"{base}/{name}")
        data = _metadata().encode()
        entry = tarfile.TarInfo(f"{base}/PKG-INFO")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return f"{base}.tar.gz"
