# SPDX-License-Identifier: Apache-2.0
"""The commands of `lightnet`, as functions."""
from __future__ import annotations

import contextlib
import numbers
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from ._arrays import as_array, message_of, numpy
from ._errors import Fail, InvalidArgument, NoSuchFile
from ._session import InferenceSession, Model, Source

AnyModel = Union[Source, Model, InferenceSession]
AnyPath = Union[str, "os.PathLike[str]"]


def command() -> str:
    """The path of the command: $LIGHTNET_COMMAND, the one that came with the package, or the one in PATH."""
    packed = pathlib.Path(__file__).resolve().parent / "bin/lightnet"
    found = os.environ.get("LIGHTNET_COMMAND") or (str(packed) if packed.exists() else shutil.which("lightnet"))
    if not found:
        raise Fail("the command 'lightnet' is not installed; put its folder into PATH, or its path into LIGHTNET_COMMAND")
    return found


@contextlib.contextmanager
def _words_of(model: AnyModel) -> Iterator[List[str]]:
    """A model as arguments of the command: its file, or a temporary one with its bytes, which may name files of its folder."""
    if isinstance(model, InferenceSession):
        model = model._model
    source, folder = _source_of(model) if isinstance(model, Model) else (model, None)
    if isinstance(source, (str, os.PathLike)):
        if not os.path.exists(source):
            raise NoSuchFile(f"{os.fsdecode(source)}: no such file")
        yield [_as_word(source)]
        return
    with tempfile.TemporaryDirectory(prefix="lightnet-") as made:
        path = os.path.join(made, "model")
        pathlib.Path(path).write_bytes(source)
        yield [path] if folder is None else [path, f"--include={folder}"]


def _source_of(model: Model) -> Tuple[Union[str, bytes], Optional[str]]:
    """(its path, None); where initializers or sizes were changed, or it has no path, (its bytes, the folder of its path)."""
    if model.path and not any(model._changes):
        return model.path, None
    return model._changed_bytes(), os.path.dirname(model.path) if model.path else None


def _as_word(path: AnyPath) -> str:
    """A path that is not an option of the command: "-x" is "./-x"."""
    text = os.fsdecode(path)
    return os.path.join(".", text) if text.startswith("-") else text


def _run(*words: Any) -> str:
    """The standard output of the command. Raises InvalidArgument (wrong usage) or Fail with its message."""
    done = subprocess.run([command(), *map(str, words)], capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        message = message_of(re.sub("^lightnet: error: ", "", done.stderr.strip()))
        status = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
        raise (InvalidArgument if done.returncode == 2 else Fail)(message or f"lightnet {words[0]} ended with {status}")
    return done.stdout


def _options(options: Mapping[str, Any]) -> List[str]:
    """Options of the command from keyword arguments: max_error=0.01 is --max-error 0.01, True an option without a value, (5, 3) the
    value 5,3, and a list of texts an option several times."""
    words = []
    for key, value in options.items():
        for one in _values(key, value):
            if one is not False and one is not None:
                name = f"--{key.replace('_', '-')}"
                words.append(name if one is True else f"{name}={one}")
    return words


def _values(key: str, value: Any) -> List[Any]:
    """The values of an option. InvalidArgument: it cannot have this one."""
    values = value if isinstance(value, (list, tuple)) else [value]
    for one in values:
        if one is not None and not isinstance(one, (str, os.PathLike, numbers.Real)):
            hint = "; 'feed' has the values of inputs" if isinstance(one, Mapping) else ""
            raise InvalidArgument(f"option '{key}' is of type {type(one).__name__}, expected a number, a text or a path, or several{hint}")
    if values is value and values and all(isinstance(one, numbers.Real) and not isinstance(one, bool) for one in values):
        return [",".join(map(str, values))]
    return [os.fspath(one) if isinstance(one, os.PathLike) else one for one in values]


def _unicode(name: str, shape: Sequence[int], texts: Sequence[bytes]) -> Any:
    """Strings as an array of NumPy's type U. InvalidArgument: it cannot have them."""
    try:
        decoded = [text.decode("utf-8") for text in texts]
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"input '{name}': {error.object!r} is not UTF-8") from None
    for text in decoded:
        if text.endswith("\0"):
            raise InvalidArgument(f"input '{name}': {text!r} ends with a null character, which npy files do not keep")
    return numpy().array(decoded, "U").reshape(shape)


@contextlib.contextmanager
def _input_files(feed: Optional[Mapping[str, Any]]) -> Iterator[List[str]]:
    """["-i", "NAME=FILE", ..] of a dict of arrays."""
    with tempfile.TemporaryDirectory(prefix="lightnet-") as folder:
        words = []
        for i, (name, value) in enumerate((feed or {}).items()):
            path = os.path.join(folder, f"{i}.npy")
            array, kind = as_array(value)
            numpy().save(path, _unicode(name, *array) if kind == "str" else array)
            words += ["-i", f"{name}={path}"]
        yield words


def convert(model: AnyModel, to: AnyPath, **options: Any) -> None:
    """Writes the model in another format, that of the suffix of `to`. options: those of `lightnet convert`."""
    with _words_of(model) as words:
        _run("convert", *words, "-o", _as_word(to), *_options(options))


def compile_model(model: AnyModel, to: AnyPath, **options: Any) -> None:
    """Compiles the model to the file `to`, which loads faster. options: those of `lightnet compile`."""
    with _words_of(model) as words:
        _run("compile", *words, "-o", _as_word(to), *_options(options))


def verify(model: AnyModel, feed: Optional[Mapping[str, Any]] = None, **options: Any) -> str:
    """Compares the compiled program with the reference program, tensor by tensor. feed: {name: array}; default: random
    data. Returns the report; raises Fail where they differ."""
    with _words_of(model) as words, _input_files(feed) as inputs:
        return _run("verify", *words, "--reference", *inputs, *_options(options))


def report(model: AnyModel, to: AnyPath, other: Optional[AnyModel] = None, feed: Optional[Mapping[str, Any]] = None, **options: Any) -> None:
    """Writes a page to the file `to`, HTML, that shows the model: its graph, times, roofline and memory. other: a second model,
    which is compared. feed: {name: array}; default: random data. options: those of `lightnet report`."""
    with contextlib.ExitStack() as files:
        words = [word for one in (model, other) if one is not None for word in files.enter_context(_words_of(one))]
        _run("report", *words, "-o", _as_word(to), *files.enter_context(_input_files(feed)), *_options(options))


def explain(model: AnyModel, **options: Any) -> str:
    """A text: inputs, outputs, and the operators of the compiled program. options: those of `lightnet show`."""
    with _words_of(model) as words:
        return _run("show", *words, *_options(options))
