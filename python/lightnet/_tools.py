# SPDX-License-Identifier: Apache-2.0
"""What the command `lightnet` does, as functions."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from ._errors import Fail, InvalidArgument


def command():
    """The path of the command: $LIGHTNET_COMMAND, the one that came with the package, or the one in PATH."""
    packed = pathlib.Path(__file__).resolve().parent / "bin/lightnet"
    found = os.environ.get("LIGHTNET_COMMAND") or (str(packed) if packed.exists() else shutil.which("lightnet"))
    if not found:
        raise Fail("the command 'lightnet' is not installed")
    return found


@contextlib.contextmanager
def _file_of(model):
    """The file of a model: a path, or a temporary one with its bytes."""
    from ._session import InferenceSession, Model
    if isinstance(model, InferenceSession):
        model = model._model
    source = (model.path or model._bytes) if isinstance(model, Model) else model
    if isinstance(source, (str, os.PathLike)):
        yield os.fspath(source)
        return
    with tempfile.TemporaryDirectory(prefix="lightnet-") as folder:
        path = os.path.join(folder, "model")
        pathlib.Path(path).write_bytes(source)
        yield path


def _run(*words):
    """The standard output of the command. Raises InvalidArgument (wrong usage) or Fail with its message."""
    done = subprocess.run([command(), *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise (InvalidArgument if done.returncode == 2 else Fail)(done.stderr.strip())
    return done.stdout


def _options(options):
    """Options of the command from keyword arguments: max_error=0.01 is --max-error 0.01, True an option without a value."""
    words = []
    for key, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not False and one is not None:
                words += [f"--{key.replace('_', '-')}"] + ([] if one is True else [str(one)])
    return words


@contextlib.contextmanager
def _input_files(feed):
    """["-i", "NAME=FILE", ..] of a dict of arrays."""
    from ._arrays import as_array, numpy
    with tempfile.TemporaryDirectory(prefix="lightnet-") as folder:
        words = []
        for i, (name, value) in enumerate((feed or {}).items()):
            path = os.path.join(folder, f"{i}.npy")
            numpy().save(path, as_array(value)[0])
            words += ["-i", f"{name}={path}"]
        yield words


def convert(model, to, **options):
    """Writes the model in another format, that of the suffix of `to`. options: those of `lightnet convert`."""
    with _file_of(model) as path:
        _run("convert", path, "-o", to, *_options(options))


def compile_model(model, to, **options):
    """Compiles the model to the file `to`, which loads faster. options: those of `lightnet compile`."""
    with _file_of(model) as path:
        _run("compile", path, "-o", to, *_options(options))


def quantize(model, to, samples, **options):
    """Writes an 8-bit model to `to`. samples: a list of {name: array} to calibrate on, or a folder of files. options: those
    of `lightnet quantize`, such as max_error=0.01. Returns the report."""
    with _file_of(model) as path, tempfile.TemporaryDirectory(prefix="lightnet-") as folder:
        if not isinstance(samples, (str, os.PathLike)):
            samples = _write_samples(folder, samples)
        return _run("quantize", path, "-o", to, "--data", samples, *_options(options))


def _write_samples(folder, samples):
    from ._arrays import as_array, numpy
    for i, feed in enumerate(samples):
        if len(feed) != 1:
            raise InvalidArgument("samples of models with several inputs are a folder of files")
        for value in feed.values():
            numpy().save(os.path.join(folder, f"{i:06}.npy"), as_array(value)[0])
    return folder


def verify(model, feed=None, **options):
    """Compares the compiled program with the reference program, tensor by tensor. feed: {name: array}; default: random
    data. Returns the report; raises Fail where they differ."""
    with _file_of(model) as path, _input_files(feed) as inputs:
        return _run("verify", path, "--reference", *inputs, *_options(options))


def explain(model, **options):
    """A text: inputs, outputs, and the operators of the compiled program. options: those of `lightnet show`."""
    with _file_of(model) as path:
        return _run("show", path, *_options(options))
