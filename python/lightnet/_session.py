# SPDX-License-Identifier: Apache-2.0
"""Models, sessions, options and bindings, by the names and signatures of onnxruntime."""
import enum
import json
import math
import os
import threading
import warnings

from . import _lightnet
from ._arrays import OrtValue, TENSOR_TYPES, array_at, as_array
from ._errors import InvalidArgument

PROVIDERS = ["CPUExecutionProvider"]


class GraphOptimizationLevel(enum.IntEnum):
    """ORT_DISABLE_ALL runs the reference program: plain kernels, operator by operator. All others are the same."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Accepted; operators run one after the other, each on all threads."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions:
    """Options of a session. Those that LightNet has no use for are kept, and have no effect: arenas, memory patterns,
    logging. `intra_op_num_threads` 0 means all cores."""

    def __init__(self):
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.enable_profiling = False
        self.profile_file_prefix = "lightnet_profile_"
        self.optimized_model_filepath = ""
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.use_deterministic_compute = False
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self._entries = {}
        self._sizes = {}

    def add_session_config_entry(self, key, value):
        """"lightnet.KEY" sets KEY of the options of the C API; others are kept without effect."""
        self._entries[key] = value

    def get_session_config_entry(self, key):
        return self._entries[key]

    def add_free_dimension_override_by_name(self, dim_name, dim_value):
        """Fixes an open size of the model."""
        self._sizes[dim_name] = dim_value

    def _pairs(self):
        """The options of the C API."""
        pairs = [("shape", f"{name}={size}") for name, size in self._sizes.items()]
        if self.intra_op_num_threads:
            pairs.append(("threads", str(self.intra_op_num_threads)))
        if self.graph_optimization_level == GraphOptimizationLevel.ORT_DISABLE_ALL:
            pairs.append(("reference", "yes"))
        return pairs + [(key[9:], value) for key, value in self._entries.items() if key.startswith("lightnet.")]


class RunOptions:
    """Options of a run. `terminate = True`, from any thread, ends the runs that use them."""

    def __init__(self):
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self._terminate = False
        self._running = set()
        self._lock = threading.Lock()  # held to end runs, and to leave _running

    @property
    def terminate(self):
        return self._terminate

    @terminate.setter
    def terminate(self, value):
        with self._lock:
            self._terminate = bool(value)
            for session in self._running if value else ():
                session.cancel()

    def _begin(self, session):
        with self._lock:
            self._running.add(session)
            if self._terminate:
                session.cancel()

    def _end(self, session):
        with self._lock:
            self._running.discard(session)

    def add_run_config_entry(self, key, value):
        """Accepted, without effect."""

    def get_run_config_entry(self, key):
        raise KeyError(key)


class NodeArg:
    """An input or output: `name`, `shape` (a number, a name, or None for each axis; None where the number of
    axes is unknown), `type` such as "tensor(float)"."""

    def __init__(self, name, dtype, shape):
        self.name = name
        self.shape = None if shape is None else list(shape)
        self.type = TENSOR_TYPES.get(dtype, "tensor(unknown)")

    def __repr__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class ModelMetadata:
    """What the model says of itself."""

    def __init__(self, metadata):
        self.producer_name = metadata.get("producer_name", "")
        self.graph_name = metadata.get("graph_name", "")
        self.graph_description = ""
        self.domain = metadata.get("domain", "")
        self.description = metadata.get("doc_string", "")
        version = metadata.get("model_version", "0")
        self.version = int(version) if version.lstrip("-").isdigit() else 0
        self.custom_metadata_map = dict(metadata)


class Model:
    """A model that sessions share: its weights are in memory once.

    path_or_bytes: a file in any format that LightNet reads, or the bytes of one.
    options: those of the C API (ln_options_set), such as threads=2, shape="batch=1..8", precision="bf16"; a list sets an
    option several times.
    """

    def __init__(self, path_or_bytes, **options):
        is_file = isinstance(path_or_bytes, (str, os.PathLike))
        self.path = os.path.abspath(path_or_bytes) if is_file else None
        self._bytes = None if is_file else bytes(memoryview(path_or_bytes))
        self._options = options
        self._model = _lightnet.Model(os.fsencode(path_or_bytes) if is_file else b"model", self._bytes, list(_pairs(options)))
        self._inputs = [NodeArg(*row) for row in self._model.inputs]
        self._outputs = [NodeArg(*row) for row in self._model.outputs]
        self._output_names = tuple(output.name for output in self._outputs)

    def session(self, **defaults):
        """A session of this model: InferenceSession(model)."""
        return InferenceSession(self, **defaults)

    @property
    def inputs(self):
        return list(self._inputs)

    @property
    def outputs(self):
        return list(self._outputs)

    @property
    def metadata(self):
        """{key: value}"""
        return self._model.metadata

    def __reduce__(self):
        return _open_model, (self.path or self._bytes, self._options)


def _open_model(source, options):
    return Model(source, **options)


def _pairs(options):
    """(key, value) of keyword arguments."""
    for key, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            yield key, "yes" if one is True else str(one)


def _merged(options, pairs):
    """Keyword arguments, and the pairs that they do not set; shapes apply together."""
    result = {}
    for key, value in pairs:
        result.setdefault(key, []).append(value)
    for key, value in options.items():
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        result[key] = result.get(key, []) + values if key == "shape" else values
    return result


def _milliseconds(seconds):
    """At least one, and at most a year."""
    return max(1, math.ceil(min(seconds, 366 * 86400) * 1000))


def _check_providers(providers):
    names = [p if isinstance(p, str) else p[0] for p in ([providers] if isinstance(providers, str) else providers or [])]
    if names and PROVIDERS[0] not in names:
        warnings.warn(f"providers {names} are not available, using {PROVIDERS}", stacklevel=3)


class InferenceSession:
    """Runs a model. Several threads may call `run` at the same time.

    path_or_bytes: a file, bytes, or a Model to share. providers and provider_options are accepted: LightNet computes on
    the CPU, and warns of a list without CPUExecutionProvider. deadline: seconds after which a run ends with
    LimitReached. options: those of Model.
    """

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, deadline=None, **options):
        _check_providers(providers)
        for key in ("disabled_optimizers", "enable_fallback", "read_config_from_model"):
            options.pop(key, None)  # onnxruntime's, without effect
        self._sess_options = sess_options or SessionOptions()
        self._deadline = deadline
        if isinstance(path_or_bytes, Model):
            if options or sess_options:
                raise ValueError("options belong to the Model")
            self._model = path_or_bytes
        else:
            self._model = Model(path_or_bytes, **_merged(options, self._sess_options._pairs()))
        self._names = self._model._output_names
        self._required = len(self._model._inputs)
        self._idle = []
        self._busy = set()
        self._lock = threading.Lock()  # held to cancel runs, and to end one
        self._events = [] if self._sess_options.enable_profiling else None

    # ---- running ----

    def run(self, output_names, input_feed, run_options=None, deadline=None):
        """The outputs `output_names` (None or []: all), a list of arrays, for {name: array}. Arrays are read in place.

        Raises ValueError: an input is missing; InvalidArgument: a wrong name, type or shape; LimitReached: after
        `deadline` seconds; Cancelled: cancel() or run_options.terminate; KeyboardInterrupt: Ctrl-C."""
        if len(input_feed) < self._required:
            self._check_missing(input_feed)
        if isinstance(output_names, str):
            raise TypeError("output_names is a list of names")
        names = tuple(output_names) if output_names else self._names
        if run_options is not None or deadline is not None or self._deadline is not None or self._events is not None:
            return self._run_with(names, input_feed, run_options, self._deadline if deadline is None else deadline)
        try:
            session = self._idle.pop()
        except IndexError:
            session = _lightnet.Session(self._model._model)
        with self._lock:
            self._busy.add(session)
        try:
            return session.run(input_feed, names)
        finally:
            self._end(session)
            self._idle.append(session)

    def _end(self, session):
        """No cancel() reaches the session from now on."""
        with self._lock:
            self._busy.discard(session)
            session.resume()

    def _run_with(self, names, input_feed, run_options, deadline):
        """A run with options, a deadline or profiling."""
        try:
            session = self._idle.pop()
        except IndexError:
            session = _lightnet.Session(self._model._model)
        events = self._events
        with self._lock:
            self._busy.add(session)
        if run_options is not None:
            run_options._begin(session)
        try:
            if deadline is not None:
                session.set_timeout(_milliseconds(deadline))
            if events is None:
                return session.run(input_feed, names)
            return self._run_timed(session, names, input_feed, events)
        finally:
            if run_options is not None:
                run_options._end(session)
            self._end(session)
            if deadline is not None:
                session.set_timeout(0)
            self._idle.append(session)

    def _run_timed(self, session, names, input_feed, events):
        """A run whose operators are timed; their times are added to the events."""
        rows = []
        try:
            for name, value in input_feed.items():
                session.bind_input(name, value)
            session.run_bound(rows)
            events.append(rows)
            return [session.output(name) for name in names]
        finally:
            for name in input_feed:
                session.bind_input(name, None)

    def _check_missing(self, input_feed):
        missing = [i.name for i in self._model._inputs if i.name not in input_feed]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(input_feed)}).")

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """Runs in a thread, then calls callback(outputs, user_data, error), error "" or a message."""
        def work():
            try:
                outputs, error = self.run(output_names, input_feed, run_options), ""
            except Exception as reason:  # what the callback is told
                outputs, error = [], str(reason)
            callback(outputs, user_data, error)
        threading.Thread(target=work, daemon=True).start()

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        """The same with OrtValue in and out."""
        names = list(output_names or self._names)
        types = {row[0]: row[1] for row in self._model._model.outputs}
        outputs = self.run(names, input_dict_ort_values, run_options)
        return [OrtValue(array, "bfloat16" if types.get(name) == "bfloat16" else None) for name, array in zip(names, outputs)]

    def cancel(self):
        """Ends all current runs, in any thread, with Cancelled. Later ones are as before."""
        with self._lock:
            for session in self._busy:
                session.cancel()

    # ---- what a session is ----

    def get_inputs(self):
        return self._model.inputs

    def get_outputs(self):
        return self._model.outputs

    def get_overridable_initializers(self):
        """[]: values with a default are set by name, and not listed."""
        return []

    def get_modelmeta(self):
        return ModelMetadata(self._model.metadata)

    def get_providers(self):
        return list(PROVIDERS)

    def get_provider_options(self):
        return {PROVIDERS[0]: {}}

    def set_providers(self, providers=None, provider_options=None):
        """Warns where CPUExecutionProvider is not among them."""
        _check_providers(providers)

    def get_session_options(self):
        return self._sess_options

    def enable_fallback(self):
        """Accepted: there is one provider."""

    def disable_fallback(self):
        """Accepted: there is one provider."""

    # ---- bindings ----

    def io_binding(self):
        """Inputs and outputs that stay bound from run to run."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding, run_options=None):
        """Runs with what is bound; the outputs are in iobinding.get_outputs()."""
        iobinding._run(run_options)

    # ---- profiles ----

    def profile(self, input_feed, trace=None):
        """One run: [{"name", "type", "ns"}, ..] of its operators in order. trace: a file that becomes a Chrome trace."""
        session = _lightnet.Session(self._model._model)
        rows = []
        for name, value in input_feed.items():
            session.bind_input(name, value)
        session.run_bound()
        session.run_bound(rows)
        if trace is not None:
            _write_trace(trace, [rows])
        return [{"name": name, "type": kind, "ns": ns} for name, kind, ns in rows]

    def end_profiling(self):
        """Writes the runs since the session began as a Chrome trace. Returns the file's name."""
        if self._events is None:
            raise InvalidArgument("profiling is off: set SessionOptions.enable_profiling")
        path = f"{self._sess_options.profile_file_prefix}{os.getpid()}.json"
        _write_trace(path, self._events)
        self._events = None
        return path

    def __reduce__(self):
        return _open_session, (self._model, self._deadline)

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        self._idle.clear()


def _open_session(model, deadline):
    return InferenceSession(model, deadline=deadline)


def _write_trace(path, runs):
    """Runs as a Chrome trace: chrome://tracing and Perfetto show it."""
    events, start = [], 0
    for rows in runs:
        for name, kind, ns in rows:
            events.append({"name": name, "cat": kind, "ph": "X", "pid": 0, "tid": 0, "ts": start / 1000, "dur": ns / 1000})
            start += ns
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)


class IOBinding:
    """Inputs and outputs of a session that stay bound; see the class of this name in onnxruntime."""

    def __init__(self, session):
        self._owner = session
        self._session = _lightnet.Session(session._model._model)
        self._inputs = set()
        self._outputs = {}  # name: OrtValue that is bound, or None for an output that the run allocates

    def bind_cpu_input(self, name, arr_on_cpu):
        """Each run reads the array in place."""
        self._session.bind_input(name, arr_on_cpu)
        self._inputs.add(name)

    def bind_ortvalue_input(self, name, ortvalue):
        self.bind_cpu_input(name, ortvalue)

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        """Memory of the caller's, which outlives the binding."""
        self.bind_cpu_input(name, array_at(buffer_ptr, tuple(shape), element_type))

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        """Without an address, the run allocates the output; get_outputs returns it."""
        if buffer_ptr is None:
            self._session.bind_output(name, None)
            self._outputs[name] = None
        else:
            self.bind_ortvalue_output(name, array_at(buffer_ptr, tuple(shape), element_type))

    def bind_ortvalue_output(self, name, ortvalue):
        """Each run writes the value in place."""
        self._session.bind_output(name, ortvalue)
        self._outputs[name] = ortvalue

    def get_outputs(self):
        """The outputs of the last run as OrtValue, in the order they were bound."""
        return [OrtValue(*as_array(self._session.output(name))) if value is None else value
                for name, value in self._outputs.items()]

    def copy_outputs_to_cpu(self):
        """The same as arrays."""
        return [self._session.output(name) if value is None else value.numpy() for name, value in self._outputs.items()]

    def clear_binding_inputs(self):
        for name in self._inputs:
            self._session.bind_input(name, None)
        self._inputs.clear()

    def clear_binding_outputs(self):
        for name, value in self._outputs.items():
            if value is not None:
                self._session.bind_output(name, None)
        self._outputs.clear()

    def synchronize_inputs(self):
        """Accepted: there is one device."""

    def synchronize_outputs(self):
        """Accepted: there is one device."""

    def _check_outputs(self):
        """Bound values have the types and shapes of the outputs."""
        for name, value in self._outputs.items():
            if value is not None:
                has = value._type or value._array.dtype.name, value._array.shape
                if has != self._session.output_info(name):
                    raise InvalidArgument(f"output '{name}' is {self._session.output_info(name)}, the value bound to it {has}")

    def _run(self, run_options):
        owner, session = self._owner, self._session
        with owner._lock:
            owner._busy.add(session)
        if run_options is not None:
            run_options._begin(session)
        try:
            session.set_timeout(0 if owner._deadline is None else _milliseconds(owner._deadline))
            session.run_bound()
            self._check_outputs()
        finally:
            if run_options is not None:
                run_options._end(session)
            owner._end(session)
