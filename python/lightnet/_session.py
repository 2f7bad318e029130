# SPDX-License-Identifier: Apache-2.0
"""Models and sessions, by the names and signatures of onnxruntime.

The module has no locks that a fork() could copy while they are locked: the lock of the interpreter serializes single
operations on lists and sets, and calls of _lightnet that do not run.
"""
from __future__ import annotations

import contextlib
import copyreg
import json
import math
import os
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _lightnet
from ._arrays import BITS, OrtValue, OrtValueVector, TENSOR_TYPES, message_of, numpy
from ._binding import IOBinding
from ._device import (PROVIDER, OrtEpAssignedNode, OrtEpAssignedSubgraph, OrtEpDevice, OrtMemoryInfo, check_device, cpu_memory,
                      get_ep_devices)
from ._errors import Error, Fail, InvalidArgument, ModelLoadCanceled, NotImplemented, warn
from ._external import with_files
from ._html import ProfileRows, model_html
from ._initializers import with_denotations, with_initializers
from ._options import DEFAULTS, RunOptions, SessionOptions
from ._plan import MemoryPlan
from ._profile import Profile, Run, shortest, trace_of
from ._sequences import FORMS, TENSOR, Compound, Port, cache_entry, grouped, interface_of, nodes_of, ports_of
from ._sequences import Feed as CompoundFeed

if TYPE_CHECKING:
    import numpy as np

PROVIDERS = [PROVIDER]
UNKNOWN = "tensor(unknown)"
KEYS = "keys of "  # in metadata, before the name of an output or input that is a map
WARNING = 2  # of the engine's levels, and of onnxruntime's severities
ARGUMENTS = ("sess_options", "providers", "provider_options", "deadline")  # of InferenceSession
ENGINE_KEYS, ENGINE_PREFIXES = ("format", "target"), ("onnx.", "program.")  # metadata that the engine adds
DTYPES = {tensor_type: name for name, tensor_type in TENSOR_TYPES.items() if name not in BITS}  # those that NumPy has
Feed = Mapping[str, Any]  # name: array; of a sequence a list of arrays, of an absent optional value None
Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview]


class NodeArg:
    """An input or output: `name`, `shape` (a number, a name, or None for each axis; None where the number of
    axes is unknown, and of sequences), `type` such as "tensor(float)", "seq(tensor(float))", "optional(tensor(float))"."""

    def __init__(self, name: str, dtype: Optional[str], shape: Optional[Sequence[Union[int, str, None]]],
                 form: int = TENSOR) -> None:
        self.name: str = name
        self.shape: Optional[List[Union[int, str, None]]] = None if shape is None else list(shape)
        self.type: str = FORMS[form].format(TENSOR_TYPES.get(dtype or "", UNKNOWN))

    def __repr__(self) -> str:
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class ModelMetadata:
    """The metadata of a model. custom_metadata_map: {key: value} of an ONNX file's own metadata."""

    def __init__(self, metadata: Mapping[str, str]) -> None:
        self.producer_name: str = metadata.get("onnx.producer_name", "")
        self.graph_name: str = metadata.get("onnx.graph.name", "")
        self.graph_description: str = metadata.get("onnx.graph.doc_string", "")
        self.domain: str = metadata.get("onnx.domain", "")
        self.description: str = metadata.get("onnx.doc_string", "")
        self.version: int = int(metadata.get("onnx.model_version", "0"))
        self.custom_metadata_map: Dict[str, str] = {
            key: value for key, value in metadata.items() if key not in ENGINE_KEYS and not key.startswith(ENGINE_PREFIXES)}


default_options: Dict[str, Any] = {}


def set_default_option(key: str, value: Any) -> None:
    """An option of models that are opened later and do not set it."""
    default_options[key] = value


class Model:
    """A model that sessions share: its weights are in memory once.

    path_or_bytes: a file in any format that LightNet reads, or the bytes of one.
    initializers: {name: array}, denotations: {denotation: size} and files: {name: bytes}, as in SessionOptions.
    options: those of the C API (ln_options_set), such as threads=2, shape="batch=1..8", precision="bf16"; a list sets an
    option several times.

    Raises NoSuchFile, InvalidGraph (a damaged file), NotImplemented (an operator that LightNet lacks), InvalidArgument (an
    option), LimitReached.
    """

    def __init__(self, path_or_bytes: Source, initializers: Optional[Feed] = None,
                 denotations: Optional[Mapping[str, int]] = None, files: Optional[Mapping[str, bytes]] = None,
                 **options: Any) -> None:
        is_file = isinstance(path_or_bytes, (str, os.PathLike))
        if not is_file and not isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            hint = next((f"; pass its {method}()" for method in ("SerializeToString", "read") if hasattr(path_or_bytes, method)), "")
            raise TypeError(f"the model is of type {type(path_or_bytes).__name__}, expected a path or bytes{hint}")
        self.path: Optional[str] = os.path.abspath(path_or_bytes) if is_file else None
        self._bytes = None if is_file else bytes(memoryview(path_or_bytes))
        self._changes = dict(initializers or {}), dict(denotations or {}), dict(files or {})
        self._severity = options.pop("log_severity_level", -1)
        self._messages: List[Tuple[int, str]] = []  # (level, text) of opening and runs
        self._options = {**default_options, **options}
        self._name = os.fsencode(path_or_bytes) if is_file else b"model"
        self._compound: Optional[Compound] = None
        self._maps: Dict[str, List[Any]] = {}
        model = self._open_or_find_ports()
        if self._compound is not None:
            self._inputs = [_node_arg(port) for port in self._compound.inputs]
            self._outputs = [_node_arg(port) for port in self._compound.outputs]
        else:
            self._set(model)
        self._output_names = tuple(output.name for output in self._outputs)
        self._warn()

    def _warn(self) -> None:
        """Turns messages of the engine into warnings, unless the severity is above them."""
        messages, self._messages[:] = list(self._messages), []
        severity = DEFAULTS["severity"] if self._severity < 0 else self._severity
        for text in [text for level, text in messages if level >= WARNING and severity <= WARNING]:
            warn(message_of(text))

    def _open_or_find_ports(self) -> Any:
        """The engine's model. One with sequences or optional values has variants instead: self._compound."""
        try:
            model = self._open([])
            if all(form == TENSOR for _, form, _, _ in model.input_values + model.output_values):
                return model
        except Error:
            self._find_ports()
            if self._compound is None:
                raise
            return None
        self._find_ports()
        return model

    def _find_ports(self) -> None:
        ports = ports_of(self.path, self._changed_bytes())
        if ports is not None:
            self._compound = Compound(ports, self._variant)

    def _open(self, bound: Sequence[Any]) -> Any:
        return _lightnet.Model(self._name, self._changed_bytes(), list(_pairs(self._options)), bound, self._messages)

    def _set(self, model: Any) -> None:
        self._engine_model = model
        self._inputs = [NodeArg(*row) for row in model.inputs]
        self._outputs = [NodeArg(*row) for row in model.outputs]
        # Outputs of ZipMap, which are no tensors in the file: the columns of an array, by keys.
        keys = {output.name: _keys_of(model.metadata, output.name) for output in self._outputs}
        if any(keys.values()):
            interface = interface_of(self.path, self._changed_bytes())
            tensors = {port.name for port in interface.outputs if port.dtype} if interface else set()
            self._maps = {name: found for name, found in keys.items() if found and name not in tensors}
        for output in self._outputs:
            if output.name in self._maps:
                _make_map(output, self._maps[output.name])

    def _variant(self, bound: Sequence[Any]) -> Model:
        """The model with inputs of known lengths and shapes."""
        made = Model.__new__(Model)
        made.__dict__.update(self.__dict__)
        made._compound = None
        made._set(self._open(bound))
        made._output_names = tuple(output.name for output in made._outputs)
        return made

    @property
    def _model(self) -> Any:
        """The engine's model."""
        if self._compound is not None:
            raise NotImplemented("the model has sequences or optional values as inputs or outputs: it runs by run and run_async")
        return self._engine_model

    def _changed_bytes(self) -> Optional[bytes]:
        """The model's bytes; None: those of its file."""
        content = self._bytes
        if content is None and any(self._changes):
            content = self._read()
        for change, values in zip((with_initializers, with_denotations, with_files), self._changes):
            if values:
                content = change(content, values)
        return content

    def _read(self) -> bytes:
        with open(self.path, "rb") as file:
            return file.read()

    def session(self, **defaults: Any) -> InferenceSession:
        """A session of this model: InferenceSession(model)."""
        return InferenceSession(self, **defaults)

    @property
    def num_programs(self) -> int:
        """The number of programs that were compiled so far, for the shapes of runs."""
        return self._model.num_programs if self._model is not None else 0

    def memory_plan(self, input_feed: Optional[Feed] = None) -> MemoryPlan:
        """The memory plan of its program, as InferenceSession.memory_plan."""
        return InferenceSession(self).memory_plan(input_feed)

    @property
    def inputs(self) -> List[NodeArg]:
        """The required inputs."""
        return list(self._inputs)

    @property
    def outputs(self) -> List[NodeArg]:
        """The outputs."""
        return list(self._outputs)

    @property
    def metadata(self) -> Dict[str, str]:
        """{key: value}; "format" always exists."""
        variant = self if self._compound is None else self._compound.any_variant()
        return {"format": "ONNX"} if variant is None else variant._model.metadata

    def __repr__(self) -> str:
        """<lightnet.Model 'digits.onnx', 1 input, 1 output>"""
        name = f"'{os.path.basename(self.path)}'" if self.path else f"of {len(self._bytes or b'')} bytes"
        counts = [f"{len(ports)} {what}{'s' * (len(ports) != 1)}" for ports, what in ((self._inputs, "input"), (self._outputs, "output"))]
        return f"<lightnet.Model {', '.join([name, *counts])}>"

    def _repr_html_(self) -> str:
        """What notebooks show: inputs, outputs, and the size of the file."""
        if self.path is None:
            size: Optional[int] = len(self._bytes or b"")
        else:
            size = os.path.getsize(self.path) if os.path.exists(self.path) else None
        return model_html(os.path.basename(self.path or "model"), size, self._inputs, self._outputs)

    def __reduce__(self) -> Tuple[Any, ...]:
        return _open_model, (self.path or self._bytes, self._changes, {**self._options, "log_severity_level": self._severity})


def _keys_of(metadata: Mapping[str, str], name: str) -> List[Any]:
    """The keys of an output that may be a map. A model's own metadata may have the same name, with any value."""
    try:
        keys = json.loads(metadata.get(KEYS + name, "[]"))
    except ValueError:
        return []
    return keys if isinstance(keys, list) and all(isinstance(key, (int, str)) for key in keys) else []


def _make_map(output: NodeArg, keys: Sequence[Any]) -> None:
    """A sequence of maps, in the words of onnxruntime."""
    output.type = f"seq(map({'string' if isinstance(keys[0], str) else 'int64'},tensor(float)))"
    output.shape = None


def _node_arg(port: Port) -> NodeArg:
    return NodeArg(port.name, port.dtype, port.shape, port.form)


def _model_for(source: Source, settings: SessionOptions, options: Mapping[str, Any]) -> Model:
    """The model of a session. Overrides of sizes that it does not have are ignored, with a warning."""
    def opened(sizes: Mapping[str, int]) -> Model:
        _check_is_wanted(settings)
        model = Model(source, *settings._changes(), log_severity_level=settings.log_severity_level,
                      **_merged(options, settings._pairs(sizes)))
        _check_is_wanted(settings)
        return model
    try:
        return opened(settings._sizes)
    except InvalidArgument:
        known = {size for port in opened({})._inputs for size in port.shape or []} if settings._sizes else set()
        if all(name in known for name in settings._sizes):
            raise
    unknown = [name for name in settings._sizes if name not in known]
    warn(f"the model has no open sizes {unknown}: overriding them has no effect")
    return opened({name: size for name, size in settings._sizes.items() if name in known})


def _check_is_wanted(settings: SessionOptions) -> None:
    if settings._is_cancelled:
        raise ModelLoadCanceled("SessionOptions.set_load_cancellation_flag(True) ended the opening of the model")


def _model_of_known(source: Source, settings: SessionOptions, options: Mapping[str, Any]) -> Model:
    """The model of a session. Keywords that are no options are ignored, as by onnxruntime, with a warning."""
    known = dict(options)
    while True:
        try:
            return _model_for(source, settings, known)
        except InvalidArgument as error:
            key = next((key for key in known if str(error).startswith(f"unknown option '{key}'; known options: ")), None)
            if key is None:
                raise
            warn(f"{error}: it has no effect")
            del known[key]


def _open_model(source: Source, changes: Tuple[Any, Any], options: Dict[str, Any]) -> Model:
    return Model(source, *changes, **options)


def _pairs(options: Mapping[str, Any]) -> Iterator[Tuple[str, str]]:
    """(key, value) of keyword arguments."""
    for key, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            yield key, "yes" if one is True else os.fspath(one) if isinstance(one, os.PathLike) else str(one)


def _merged(options: Mapping[str, Any], pairs: Sequence[Tuple[str, str]]) -> Dict[str, Any]:
    """Keyword arguments, and the pairs that they do not set; shapes apply together."""
    result: Dict[str, Any] = {}
    for key, value in pairs:
        result.setdefault(key, []).append(value)
    for key, value in options.items():
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        result[key] = result.get(key, []) + values if key == "shape" else values
    return result


def _dict_of(input_feed: Any) -> Dict[str, Any]:
    if not isinstance(input_feed, Mapping):
        raise TypeError(f"input_feed is of type {type(input_feed).__name__}, expected a dict of arrays by name")
    return dict(input_feed)


def _checked(output_names: Any, input_feed: Any, run_options: Optional[RunOptions]) -> Any:
    """input_feed, with the inputs of adapters. TypeError: arguments of run are of other kinds; an empty dict is no name."""
    if isinstance(output_names, Mapping) and output_names:
        raise TypeError("output_names is a dict: the arguments of run are output_names, input_feed, in this order")
    if isinstance(output_names, str):
        raise TypeError("output_names is a list of names")
    if input_feed is None:
        raise TypeError("input_feed is None, expected a dict of arrays by name")
    has_adapters = isinstance(run_options, RunOptions) and run_options._adapters
    return {**run_options._parameters(), **input_feed} if has_adapters else input_feed


def _milliseconds(seconds: float) -> int:
    """At least one, and at most a year."""
    return max(1, math.ceil(min(seconds, 366 * 86400) * 1000))


def _check_spelling(options: Mapping[str, Any]) -> None:
    """Raises InvalidArgument where an option looks like an argument."""
    if not options:
        return
    from difflib import get_close_matches
    for key in options:
        close = get_close_matches(key, ARGUMENTS, 1, 0.8)
        if close:
            raise InvalidArgument(f"unknown option '{key}'; did you mean '{close[0]}'?")


def _check_providers(providers: Any) -> None:
    names = [p if isinstance(p, str) else p[0] for p in ([providers] if isinstance(providers, str) else providers or [])]
    missing = [name for name in names if name not in PROVIDERS]
    if missing:
        warn(f"providers {missing} are not available, using {PROVIDERS}")


class InferenceSession:
    """Runs a model. Several threads may call `run` at the same time.

    path_or_bytes: a file, bytes, or a Model to share. providers and provider_options are accepted: LightNet computes on
    the CPU, and warns of other providers. deadline: seconds after which a run ends with
    LimitReached. options: those of Model. A Model that is shared has its own options; sess_options may then set those of
    the session, such as profiling. Raises what Model raises.
    """

    def __init__(self, path_or_bytes: Union[Source, Model], sess_options: Optional[SessionOptions] = None,
                 providers: Any = None, provider_options: Any = None, deadline: Optional[float] = None,
                 **options: Any) -> None:
        settings = SessionOptions() if sess_options is None else sess_options
        if not isinstance(settings, SessionOptions):
            raise TypeError(f"sess_options is of type {type(settings).__name__}, expected SessionOptions")
        _check_providers(providers or list(settings._providers))
        for key in ("enable_fallback", "read_config_from_model"):
            options.pop(key, None)  # onnxruntime's, without effect
        if options.pop("disabled_optimizers", None):
            warn("disabled_optimizers has no effect: the option disabled_rule names rules of LightNet")
        _check_spelling(options)
        if not isinstance(path_or_bytes, Model):
            model = _model_of_known(path_or_bytes, settings, options)
        elif options or settings._changes_model():
            raise InvalidArgument("options that change a model belong to the Model, not to a session that shares it")
        else:
            model = path_or_bytes
        self._open(model, settings, deadline)
        if settings.optimized_model_filepath:
            from ._written import write_model
            write_model(model, settings.optimized_model_filepath)

    def _open(self, model: Model, settings: SessionOptions, deadline: Optional[float]) -> None:
        self._model = model
        self._sess_options = settings
        self._deadline = deadline
        self._names = model._output_names
        self._required = len(model._inputs)
        self._messages = model._messages
        self._idle: List[Any] = []
        self._sessions: List[Any] = []  # all that run() has made; cancel() ignores those that do not run
        self._others: set = set()  # others that may run
        self._profile = Profile() if settings.enable_profiling else None
        self._variants: Dict[Any, InferenceSession] = {}  # of a model with sequences or optional values
        if model._compound is not None:
            self.run = self._run_compound  # type: ignore[method-assign]
        elif model._maps:
            self.run = self._run_maps  # type: ignore[method-assign]

    # ---- running ----

    def run(self, output_names: Optional[Sequence[str]], input_feed: Feed, run_options: Optional[RunOptions] = None,
            deadline: Optional[float] = None) -> List[np.ndarray]:
        """The outputs `output_names` (None or []: all), a list of arrays, for {name: array}. Arrays are read in place, and
        have the types and shapes of get_inputs(); lists of numbers are converted to that type. A sequence is a list of
        arrays, an absent optional value None, and the result of ZipMap a list of dicts.

        Raises ValueError: an input is missing; InvalidArgument: a wrong name, type or shape; LimitReached: after
        `deadline` seconds; Cancelled: cancel() or run_options.terminate; KeyboardInterrupt: Ctrl-C. A signal whose handler
        does not raise does not change the result, but may restart the run."""
        if run_options is not None or input_feed is None or output_names is not None and output_names.__class__ is not list:
            input_feed = _checked(output_names, input_feed, run_options)
        if len(input_feed) < self._required:
            self._check_missing(input_feed)
        names = tuple(output_names) if output_names else self._names
        if not isinstance(input_feed, dict):
            input_feed = _dict_of(input_feed)
        if run_options is not None or deadline is not None or self._deadline is not None or self._profile is not None:
            return self._run_with(names, input_feed, run_options, self._deadline if deadline is None else deadline)
        try:
            session = self._idle.pop()
        except IndexError:
            session = self._new_session()
        try:
            return session.run(input_feed, names)
        except InvalidArgument:
            converted = self._converted(input_feed)
            if converted is input_feed:
                raise
            return session.run(converted, names)
        finally:
            self._idle.append(session)
            if self._messages:
                self._model._warn()

    def _converted(self, input_feed: Dict[str, Any]) -> Dict[str, Any]:
        """With lists of numbers as arrays of the inputs' types; input_feed itself where there are none."""
        types = {i.name: DTYPES.get(i.type) for i in self._model._inputs}
        lists = {name: value for name, value in input_feed.items() if isinstance(value, (list, tuple)) and types.get(name)}
        arrays = {name: numpy().array(value, types[name]) for name, value in lists.items()}
        return {**input_feed, **arrays} if arrays else input_feed

    def _run_compound(self, output_names: Optional[Sequence[str]], input_feed: Feed, run_options: Optional[RunOptions] = None,
                      deadline: Optional[float] = None) -> List[Any]:
        """As run, of a model with sequences or optional values."""
        input_feed = _checked(output_names, input_feed, run_options)
        compound = self._model._compound
        names = list(output_names or self._names)
        for name in names:
            if name not in self._names:
                raise InvalidArgument(f"the model has no output '{name}'; it has: {', '.join(self._names)}")
        feed = CompoundFeed(compound.inputs, input_feed)
        session = self._session_for(*compound.variant_for(feed))
        arrays = session.run(None, feed.flat(), run_options, deadline) if session._names else []
        outputs = grouped(session._model._model.output_values, arrays)
        return [outputs[name] for name in names]

    def _run_maps(self, output_names: Optional[Sequence[str]], input_feed: Feed, run_options: Optional[RunOptions] = None,
                  deadline: Optional[float] = None) -> List[Any]:
        """As run, of a model whose outputs are maps: a list of dicts for each."""
        _checked(output_names, input_feed, None)
        names, maps = list(output_names or self._names), self._model._maps
        arrays = InferenceSession.run(self, names, input_feed, run_options, deadline)
        return [[dict(zip(maps[name], row)) for row in array.reshape(-1, len(maps[name])).tolist()] if name in maps else array
                for name, array in zip(names, arrays)]

    def _session_for(self, key: Any, model: Model) -> InferenceSession:
        session = self._variants.get(key)
        if session is None or session._model is not model:
            session = _open_session(model, self._sess_options, self._deadline)
            session._profile = self._profile
            cache_entry(self._variants, key, session)
        return session

    def _new_session(self) -> Any:
        session = _lightnet.Session(self._model._model)
        self._sessions.append(session)
        return session

    @contextlib.contextmanager
    def _armed(self, session: Any, run_options: Optional[RunOptions], deadline: Optional[float]) -> Iterator[None]:
        """Within it, cancel() and the options end runs of the session, and its deadline is set."""
        number = session.arm()
        self._others.add(session)
        try:
            if run_options is not None:
                run_options._begin(session, number)
            session.set_timeout(0 if deadline is None else _milliseconds(deadline))
            yield
        finally:
            if run_options is not None:
                run_options._end(session, number)
            self._others.discard(session)
            session.disarm()
            session.set_timeout(0)

    def _run_with(self, names: Tuple[str, ...], input_feed: Dict[str, Any], run_options: Optional[RunOptions],
                  deadline: Optional[float]) -> List[np.ndarray]:
        """A run with options, a deadline or profiling."""
        if run_options is not None and not isinstance(run_options, RunOptions):
            raise TypeError(f"run_options is of type {type(run_options).__name__}, expected RunOptions")
        input_feed = self._converted(input_feed)
        try:
            session = self._idle.pop()
        except IndexError:
            session = self._new_session()
        try:
            with self._armed(session, run_options, deadline):
                if self._profile is None:
                    return session.run(input_feed, names)
                return self._run_timed(session, names, input_feed)
        finally:
            self._idle.append(session)

    def _run_timed(self, session: Any, names: Tuple[str, ...], input_feed: Dict[str, Any]) -> List[np.ndarray]:
        """A run whose operators are timed."""
        try:
            for name, value in input_feed.items():
                session.bind_input(name, value)
            self._run_bound(session)
            return [session.output(name) for name in names]
        finally:
            for name in input_feed:
                with contextlib.suppress(InvalidArgument):  # unknown name
                    session.bind_input(name, None)

    def _run_bound(self, session: Any) -> None:
        """A run with the bound values, whose times are added to the profile, if any."""
        profile = self._profile
        if profile is None:
            session.run_bound()
            return
        rows: List[Any] = []
        start = time.perf_counter_ns()
        session.run_bound(rows)
        profile.add(start, rows)

    def _check_missing(self, input_feed: Feed) -> None:
        missing = [i.name for i in self._model._inputs if i.name not in input_feed]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(input_feed)}).")

    def run_async(self, output_names: Optional[Sequence[str]], input_feed: Feed,
                  callback: Callable[[List[np.ndarray], Any, str], Any], user_data: Any,
                  run_options: Optional[RunOptions] = None) -> None:
        """Runs in a thread, then calls callback(outputs, user_data, error), error "" or a message."""
        def work() -> None:
            try:
                outputs, error = self.run(output_names, input_feed, run_options), ""
            except Exception as reason:  # passed to the callback
                outputs, error = [], str(reason)
            callback(outputs, user_data, error)
        threading.Thread(target=work, daemon=True).start()

    def run_with_ort_values(self, output_names: Optional[Sequence[str]], input_dict_ort_values: Mapping[str, OrtValue],
                            run_options: Optional[RunOptions] = None) -> List[OrtValue]:
        """run with OrtValue in and out."""
        names = list(output_names or self._names)
        types = {row[0]: row[1] for row in self._model._model.outputs}
        outputs = self.run(names, input_dict_ort_values, run_options)
        kept = (*BITS, "str")  # what the array's own type does not show
        return [OrtValue(array, types.get(name) if types.get(name) in kept else None) for name, array in zip(names, outputs)]

    def run_with_ortvaluevector(self, run_options: Optional[RunOptions], feed_names: Sequence[str], feeds: Sequence[OrtValue],
                                fetch_names: Sequence[str], fetches: OrtValueVector, fetch_devices: Sequence[Any]) -> None:
        """run with vectors of OrtValue; `fetches` gets the outputs, in place where it has values already."""
        if len(feed_names) != len(feeds) or len(fetch_names) != len(fetch_devices) or len(fetches) not in (0, len(fetch_names)):
            raise InvalidArgument(f"{len(feed_names)} names of {len(feeds)} inputs, {len(fetch_names)} names of {len(fetches)} "
                                  f"outputs on {len(fetch_devices)} devices")
        for device in fetch_devices:
            check_device(device)
        outputs = self.run_with_ort_values(fetch_names, dict(zip(feed_names, feeds)), run_options)
        for target, value in zip(fetches, outputs):
            target.update_inplace(value._array)
        if not fetches:
            fetches.extend(outputs)

    def cancel(self) -> None:
        """Ends all current runs, in any thread, with Cancelled. Later ones are as before."""
        for session in [*self._sessions, *self._others, *self._variants.values()]:
            session.cancel()

    # ---- what a session is ----

    def get_inputs(self) -> List[NodeArg]:
        """The required inputs."""
        return self._model.inputs

    def get_outputs(self) -> List[NodeArg]:
        """The outputs."""
        return self._model.outputs

    def get_overridable_initializers(self) -> List[NodeArg]:
        """The inputs with a default value, of ONNX models."""
        interface = interface_of(self._model.path, self._model._changed_bytes())
        return [_node_arg(port) for port in interface.overridable] if interface else []

    def get_modelmeta(self) -> ModelMetadata:
        """The metadata of the model."""
        return ModelMetadata(self._model.metadata)

    def get_providers(self) -> List[str]:
        """["CPUExecutionProvider"]"""
        return list(PROVIDERS)

    def get_provider_options(self) -> Dict[str, Dict[str, str]]:
        """No options, for each provider."""
        return {PROVIDERS[0]: {}}

    def get_provider_graph_assignment_info(self) -> List[OrtEpAssignedSubgraph]:
        """The nodes of an ONNX model, each with CPUExecutionProvider. Fail: they were not recorded, as session option
        "session.record_ep_graph_assignment_info" requests."""
        if self._sess_options._entries.get("session.record_ep_graph_assignment_info") != "1":
            raise Fail("the nodes were not recorded: set the session option session.record_ep_graph_assignment_info to 1")
        nodes = nodes_of(self._model.path, self._model._changed_bytes())
        return [OrtEpAssignedSubgraph(PROVIDER, [OrtEpAssignedNode(*node)]) for node in nodes or []]

    def get_input_memory_infos(self) -> List[OrtMemoryInfo]:
        """The memory of each input: the CPU's."""
        return [cpu_memory() for _ in self.get_inputs()]

    def get_output_memory_infos(self) -> List[OrtMemoryInfo]:
        """The memory of each output: the CPU's."""
        return [cpu_memory() for _ in self.get_outputs()]

    def get_input_epdevices(self) -> List[OrtEpDevice]:
        """The provider and device of each input."""
        return [get_ep_devices()[0] for _ in self.get_inputs()]

    def set_ep_dynamic_options(self, options: Mapping[str, str]) -> None:
        """Warns: the provider has no such options. InvalidArgument: none is given."""
        if not options:
            raise InvalidArgument("no options are given")
        warn(f"{PROVIDER} has no dynamic options: {sorted(options)} have no effect")

    def get_tuning_results(self) -> List[Any]:
        """[]: the provider is not tuned."""
        return []

    def set_tuning_results(self, results: Sequence[Any], *, error_on_invalid: bool = False) -> None:
        """Warns that results have no effect; error_on_invalid: raises Fail."""
        text = f"{PROVIDER} is not tuned: the results have no effect"
        if results and error_on_invalid:
            raise Fail(text)
        if results:
            warn(text)

    def set_providers(self, providers: Any = None, provider_options: Any = None) -> None:
        """Warns where CPUExecutionProvider is not among them."""
        _check_providers(providers)

    def get_session_options(self) -> SessionOptions:
        """The options it was made with."""
        return self._sess_options

    def enable_fallback(self) -> None:
        """Accepted: there is one provider."""

    def disable_fallback(self) -> None:
        """Accepted: there is one provider."""

    # ---- bindings ----

    def io_binding(self) -> IOBinding:
        """Inputs and outputs that stay bound from run to run."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: Optional[RunOptions] = None) -> None:
        """Runs with the bound values; the outputs are in iobinding.get_outputs(). Raises the exceptions of run."""
        iobinding._run(run_options)

    # ---- memory and time ----

    def memory_plan(self, input_feed: Optional[Feed] = None) -> MemoryPlan:
        """The memory plan of the program for these inputs, which are run once; None: for the shapes in the model.
        InvalidArgument: without inputs, a size is open."""
        session = _lightnet.Session(self._model._model)
        if input_feed is not None:
            session.run(dict(input_feed), self._names)
        return MemoryPlan(*session.memory_plan())

    def profile(self, input_feed: Feed, trace: Union[str, "os.PathLike[str]", None] = None) -> ProfileRows:
        """The operators of a run in order: a list [{"name", "type", "ns", "nodes"}, ..], which notebooks show as bars. ns: the
        shortest of several runs, up to 20 within half a second. nodes: [{"name", "type"}, ..], the nodes of the model that the
        operator computes. trace: a file that becomes a Chrome trace."""
        session = _lightnet.Session(self._model._model)
        for name, value in input_feed.items():
            session.bind_input(name, value)
        session.run_bound()
        rows = shortest(session)
        nodes: Dict[str, List[Dict[str, str]]] = {}
        for operator, name, kind in session.nodes():
            nodes.setdefault(operator, []).append({"name": name, "type": kind})
        if trace is not None:
            with open(trace, "w", encoding="utf-8") as file:
                json.dump(trace_of([Run(0, threading.get_native_id(), rows)], 0), file)
        return ProfileRows({"name": name, "type": kind, "ns": ns, "nodes": nodes.get(name, [])} for name, kind, ns in rows)

    def get_profiling_start_time_ns(self) -> int:
        """When profiling began, in ns of time.perf_counter_ns; 0: it is off."""
        profile = self._profile
        return 0 if profile is None else profile.start

    def end_profiling(self) -> str:
        """Ends profiling, and writes the runs so far as a Chrome trace, a new file SessionOptions.profile_file_prefix + date,
        time and process. Returns its name. InvalidArgument: profiling is off, or has ended."""
        profile, self._profile = self._profile, None
        if profile is None:
            raise InvalidArgument("profiling is off: set SessionOptions.enable_profiling")
        return profile.write(self._sess_options.profile_file_prefix)

    def __reduce__(self) -> Tuple[Any, ...]:
        """The model and the options of the session. A subclass with __setstate__ decides for itself; the attributes of others
        are kept."""
        cls = type(self)
        own = {name: value for name, value in self.__dict__.items() if name not in OPENED}
        if hasattr(cls, "__setstate__"):
            state = getattr(cls, "__getstate__", None)
            has_state = state is not getattr(object, "__getstate__", None)  # which it has from Python 3.11 on
            return copyreg.__newobj__, (cls,), state(self) if state and has_state else own
        return _open_session, (self._model, self._sess_options, self._deadline, cls), own or None

    # Attributes of onnxruntime's that public programs read.
    _model_path = property(lambda self: self._model.path)
    _model_bytes = property(lambda self: self._model._bytes)
    _inputs_meta = property(lambda self: self.get_inputs())
    _outputs_meta = property(lambda self: self.get_outputs())
    _overridable_initializers = property(lambda self: self.get_overridable_initializers())
    _model_meta = property(lambda self: self.get_modelmeta())
    _providers = property(lambda self: self.get_providers())
    _provider_options = property(lambda self: self.get_provider_options())
    _sess_options_initial = property(lambda self: self._sess_options)
    _profiling_start_time_ns = property(lambda self: self.get_profiling_start_time_ns())

    @property
    def _sess(self) -> Any:
        from .capi.onnxruntime_pybind11_state import InferenceSession as State
        return State._of(self)

    def __enter__(self) -> InferenceSession:
        return self

    def __exit__(self, *reason: Any) -> None:
        self._idle.clear()
        self._sessions.clear()
        self._variants.clear()


# What InferenceSession._open sets.
OPENED = ("_model", "_sess_options", "_deadline", "_names", "_required", "_messages", "_idle", "_sessions", "_others", "_profile", "_variants",
          "run")


def _open_session(model: Model, settings: SessionOptions, deadline: Optional[float],
                  cls: type = InferenceSession) -> InferenceSession:
    session = cls.__new__(cls)
    session._open(model, settings, deadline)
    return session
