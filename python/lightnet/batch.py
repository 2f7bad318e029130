# SPDX-License-Identifier: Apache-2.0
"""Many files for one model, on any engine for batches: which outputs there will be, which are missing, and writing each whole.

    from lightnet import batch
    jobs = batch.jobs(paths, "out", "probabilities")          # [(path, file)] of the whole list
    missing = batch.pending(batch.part(jobs, rank, size))
    failed = batch.run_jobs(missing, lambda path: session.run(None, {"image": numpy.load(path)})[0])

The names are those of `lightnet run --each LIST -O DIR`, and the parts those of its --part, so that each continues what the
other has begun. docs/batches.md has recipes for Dask, MPI, Spark and Ray.
"""
from __future__ import annotations

import math
import os
import sys
from collections import Counter
from typing import Any, Callable, Dict, Iterable, List, Sequence, Tuple, TypeVar

from ._arrays import numpy
from ._files import AnyPath, whole_file
from ._session import DTYPES, InferenceSession, NodeArg

Job = Tuple[str, str]  # the path of an input, the file of its output
Failure = Tuple[str, str]  # the path of an input, the reason
Item = TypeVar("Item")
NPY_VERSIONS = (1, 0), (2, 0), (3, 0)
NOT_IN_NAMES = set('/\\:*?"<>|')


def _plain(name: str) -> str:
    return "".join("_" if c <= " " or c in NOT_IN_NAMES else c for c in name)


def read_list(file: AnyPath) -> List[str]:
    """The paths of a file with one in each line, as `run --each` reads it: lines end with \\n or \\r\\n, empty ones are ignored, and
    paths are bytes, by os.fsdecode. OSError: it cannot be read. ValueError: it has a zero byte."""
    with open(file, "rb") as stream:
        text = stream.read()
    if b"\0" in text:
        raise ValueError(f"{os.fsdecode(file)}: the file is not text, expected a path in each line")
    paths = (line.split(b"\r")[0] for line in text.split(b"\n"))
    return [os.fsdecode(path) for path in paths if path]


def jobs(paths: Iterable[AnyPath], folder: AnyPath, output: str = "output") -> List[Job]:
    """[(path, file)]: folder/NAME_output.npy for each path, where NAME is that of its file without the suffix, or with it where
    several have the same name without it. Makes the folder. ValueError: a path occurs twice, or two files would be the same."""
    names = [os.fsdecode(path) for path in paths]
    stems = Counter(os.path.splitext(os.path.basename(name))[0] for name in names)
    made: List[Job] = []
    seen: Dict[str, str] = {}
    os.makedirs(folder, exist_ok=True)
    for name in names:
        base = os.path.basename(name)
        stem = os.path.splitext(base)[0]
        file = os.path.join(os.fsdecode(folder), f"{stem if stems[stem] == 1 else base}_{_plain(output)}.npy")
        if seen.get(file) == name:
            raise ValueError(f"{name!r} occurs twice in the list, expected each path once")
        if file in seen:
            raise ValueError(f"{file} would be the output of both {seen[file]!r} and {name!r}")
        seen[file] = name
        made.append((name, file))
    return made


def part(items: Sequence[Item], rank: int, size: int) -> Sequence[Item]:
    """The items of rank 0 .. size - 1: consecutive ones, as many as the others have, up to one. Take parts of all jobs, not of
    those that are pending, which are others in each process. ValueError: there is no such rank."""
    if not 0 <= rank < size:
        raise ValueError(f"rank {rank} of {size}")
    return items[len(items) * rank // size:len(items) * (rank + 1) // size]


def is_complete(file: AnyPath) -> bool:
    """Whether the file is there, and has the whole array, by its header and its size: a power failure may cut off a file that was
    saved before."""
    array = numpy().lib.format
    try:
        with open(file, "rb") as stream:
            version = array.read_magic(stream)
            if version not in NPY_VERSIONS:
                return False
            # Of version 3 alone the names of fields differ, which are UTF-8.
            read_header = array.read_array_header_1_0 if version == (1, 0) else array.read_array_header_2_0
            shape, _, dtype = read_header(stream)
            size = os.fstat(stream.fileno()).st_size - stream.tell()
    except (OSError, ValueError, EOFError):
        return False
    return not dtype.hasobject and size == math.prod(shape) * dtype.itemsize


def pending(all_jobs: Iterable[Job]) -> List[Job]:
    """The jobs whose output is not complete."""
    return [job for job in all_jobs if not is_complete(job[1])]


def save(file: AnyPath, array: Any) -> None:
    """Writes an npy file, which has its name only when it is whole. Several writers of one file: the last one stays. A process
    that is killed leaves at most a hidden file .lightnet-*.tmp. OSError: it cannot be written."""
    with whole_file(file, sync=False) as stream:
        numpy().lib.format.write_array(stream, numpy().asanyarray(array), allow_pickle=False)


def run_jobs(all_jobs: Iterable[Job], run: Callable[[str], Any]) -> List[Failure]:
    """Saves run(path) for each job. A job that fails is printed to standard error at once, and the others run. Returns
    [(path, reason)] of those that failed. MemoryError: the jobs before have run."""
    failed: List[Failure] = []
    for path, file in all_jobs:
        try:
            save(file, run(path))
        except MemoryError:
            raise
        except Exception as error:  # any that a reader or a model raises for this file
            failed.append((path, f"{type(error).__name__}: {error}"))
            print(f"error: {path}: {failed[-1][1]}", file=sys.stderr, flush=True)
    return failed


def _row_shape(port: NodeArg) -> List[int]:
    """Of an input without its batch axis. ValueError: it has none, or other open sizes."""
    shape = port.shape or []
    sizes = [size for size in shape[1:] if isinstance(size, int)]
    if not shape or (isinstance(shape[0], int) and shape[0] != 1) or len(sizes) < len(shape) - 1:
        raise ValueError(f"the input {port.name!r} has shape {port.shape}, expected 1 or an open size on axis 0, and no other open sizes")
    return sizes


def run_rows(session: InferenceSession, rows: Iterable[Any], max_rows: int = 32) -> Any:
    """The first output for each row of a table: [n, ...]. A row has the elements of the model's only input but for axis 0, flat or in
    their shape. Up to max_rows rows run together where axis 0 is open, so a row of the output has to depend on its own row alone;
    where axis 0 is 1, one at a time. ValueError: the input or a row has another shape, or the output has no row for each."""
    ports = session.get_inputs()
    if len(ports) != 1:
        raise ValueError(f"the model has {len(ports)} inputs, expected 1")
    if ports[0].type not in DTYPES:
        raise ValueError(f"the input {ports[0].name!r} has type {ports[0].type}, expected one that NumPy has")
    shape, dtype = _row_shape(ports[0]), DTYPES[ports[0].type]
    whole, made = list(rows), []
    step = max_rows if not isinstance((ports[0].shape or [1])[0], int) else 1
    for begin in range(0, len(whole), step):
        array = numpy().stack([numpy().asarray(row, dtype).reshape(shape) for row in whole[begin:begin + step]])
        output = session.run(None, {ports[0].name: array})[0]
        if output.shape[:1] != array.shape[:1]:
            raise ValueError(f"the output has shape {list(output.shape)} for {len(array)} rows, expected a row for each")
        made.append(output)
    return numpy().concatenate(made) if made else numpy().empty((0, 0))
