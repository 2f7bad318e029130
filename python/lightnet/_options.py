# SPDX-License-Identifier: Apache-2.0
"""Options of sessions and of runs, by the names of onnxruntime."""
from __future__ import annotations

import enum
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union

from . import _lightnet
from ._arrays import OrtValue
from ._errors import InvalidArgument

if TYPE_CHECKING:
    from ._adapters import LoraAdapter

# Of the process: what sessions without values of their own use.
DEFAULTS: Dict[str, Any] = {"severity": 2, "threads": 0}


class GraphOptimizationLevel(enum.IntEnum):
    """ORT_DISABLE_ALL applies only the rules that choose fast kernels for the operators of the model. The option
    reference=True runs these one by one on plain kernels. All other levels are the same."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Accepted; operators run one after the other, each on all threads."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    """Accepted; the order of operators is that of the compiled program."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class SessionOptions:
    """Options of a session. LightNet stores options that it does not use, without effect: arenas, memory patterns, verbosity.
    `intra_op_num_threads` 0 means all cores. `log_severity_level` above 2 suppresses the warnings of the engine, which are
    Python's otherwise; -1: that of set_default_logger_severity. AttributeError: no option has that name."""

    __slots__ = ("intra_op_num_threads", "inter_op_num_threads", "graph_optimization_level", "execution_mode",
                 "execution_order", "enable_profiling", "profile_file_prefix", "optimized_model_filepath",
                 "enable_cpu_mem_arena", "enable_mem_pattern", "enable_mem_reuse", "use_deterministic_compute",
                 "use_per_session_threads", "log_severity_level", "log_verbosity_level", "logid", "_entries", "_sizes",
                 "_denotations", "_initializers", "_files", "_providers", "_is_cancelled")

    def __init__(self) -> None:
        self.intra_op_num_threads: int = 0
        self.inter_op_num_threads: int = 0
        self.graph_optimization_level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode: ExecutionMode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order: ExecutionOrder = ExecutionOrder.DEFAULT
        self.enable_profiling: bool = False
        self.profile_file_prefix: str = "lightnet_profile_"
        self.optimized_model_filepath: str = ""
        self.enable_cpu_mem_arena: bool = True
        self.enable_mem_pattern: bool = True
        self.enable_mem_reuse: bool = True
        self.use_deterministic_compute: bool = False
        self.use_per_session_threads: bool = True
        self.log_severity_level: int = -1
        self.log_verbosity_level: int = 0
        self.logid: str = ""
        self._entries: Dict[str, str] = {}
        self._sizes: Dict[str, int] = {}
        self._denotations: Dict[str, int] = {}
        self._initializers: Dict[str, OrtValue] = {}
        self._files: Dict[str, bytes] = {}
        self._providers: Dict[str, Dict[str, str]] = {}
        self._is_cancelled = False

    def add_session_config_entry(self, key: str, value: str) -> None:
        """"lightnet.KEY" sets KEY of the options of the C API; others are kept without effect."""
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """The value of the entry. InvalidArgument: it was never added."""
        return _entry(self._entries, "session", key)

    def has_session_config_entry(self, key: str) -> bool:
        """Whether the entry was added."""
        return key in self._entries

    def add_free_dimension_override_by_name(self, dim_name: str, dim_value: int) -> None:
        """Fixes an open size of the model. One that it does not have is ignored, with a warning when the session is made."""
        self._sizes[dim_name] = dim_value

    def add_free_dimension_override_by_denotation(self, denotation: str, dim_value: int) -> None:
        """Fixes the sizes of inputs with this denotation, such as "DATA_BATCH". ONNX models; InvalidArgument, when the
        session is made: no size has it."""
        self._denotations[denotation] = dim_value

    def add_initializer(self, name: str, ort_value: OrtValue) -> None:
        """Replaces the initializer of that name by a copy of the value, or sets the default of an input. ONNX models;
        InvalidArgument, when the session is made: the model has neither."""
        if not isinstance(ort_value, OrtValue):
            raise TypeError(f"add_initializer expects an OrtValue, not {type(ort_value).__name__}")
        self._initializers[name] = ort_value

    def add_external_initializers(self, external_initializer_names: Sequence[str],
                                  external_initializer_values: Sequence[OrtValue]) -> None:
        """add_initializer for several."""
        if len(external_initializer_names) != len(external_initializer_values):
            raise InvalidArgument(f"{len(external_initializer_names)} names, and {len(external_initializer_values)} values")
        for name, value in zip(external_initializer_names, external_initializer_values):
            self.add_initializer(name, value)

    def add_external_initializers_from_files_in_memory(self, names: Sequence[str], buffers: Sequence[Any],
                                                       lengths: Sequence[int]) -> None:
        """The contents of files that hold initializers, by the names that the model has for them. ONNX models."""
        if not len(names) == len(buffers) == len(lengths):
            raise InvalidArgument(f"{len(names)} names, {len(buffers)} buffers and {len(lengths)} lengths")
        for name, buffer, length in zip(names, buffers, lengths):
            content = bytes(memoryview(buffer))
            if not 0 <= length <= len(content):
                raise InvalidArgument(f"file '{name}' has {len(content)} bytes, not {length}")
            self._files[os.fspath(name)] = content[:length]

    def add_provider(self, provider_name: str, provider_options: Optional[Mapping[str, str]] = None) -> None:
        """As `providers` of InferenceSession."""
        self._providers[provider_name] = dict(provider_options or {})

    def has_providers(self) -> bool:
        """Whether add_provider was called."""
        return bool(self._providers)

    def set_load_cancellation_flag(self, is_cancelled: bool) -> None:
        """True, from any thread: opening a model with these options raises ModelLoadCanceled when the engine has read it."""
        self._is_cancelled = bool(is_cancelled)

    def register_custom_ops_library(self, library_path: Union[str, os.PathLike]) -> None:
        """Loads a plug-in of LightNet (docs/plugins.md) at once, for all models that are opened later, until the process
        ends. NotImplemented: it is not a plug-in, such as a library for onnxruntime, or a model is open."""
        _lightnet.load_plugin(os.fsencode(library_path))

    def _pairs(self, sizes: Optional[Mapping[str, int]] = None) -> List[Tuple[str, str]]:
        """The options of the C API; `sizes` in place of the overrides."""
        pairs = [("shape", f"{name}={size}") for name, size in (self._sizes if sizes is None else sizes).items()]
        n_threads = self.intra_op_num_threads if self.use_per_session_threads else DEFAULTS["threads"]
        if isinstance(n_threads, bool) or not isinstance(n_threads, int):
            raise TypeError(f"intra_op_num_threads is of type {type(n_threads).__name__}, expected an int")
        if n_threads > 0:  # else all cores
            pairs.append(("threads", str(n_threads)))
        if self.graph_optimization_level == GraphOptimizationLevel.ORT_DISABLE_ALL:
            pairs.append(("unoptimized", "yes"))
        return pairs + [(key[9:], value) for key, value in self._entries.items() if key.startswith("lightnet.")]

    def _changes_model(self) -> bool:
        """Whether a model that is open already lacks these options."""
        return bool(self._pairs() or any(self._changes()))

    def _changes(self) -> Tuple[Dict[str, OrtValue], Dict[str, int], Dict[str, bytes]]:
        """The changes of the model's bytes."""
        return self._initializers, self._denotations, self._files


class RunOptions:
    """Options of a run. `terminate = True`, from any thread, ends the runs that use them. AttributeError: no option
    has that name."""

    __slots__ = ("log_severity_level", "log_verbosity_level", "logid", "only_execute_path_to_fetches", "_entries",
                 "_terminate", "_running", "_adapters")

    def __init__(self) -> None:
        self.log_severity_level: int = -1
        self.log_verbosity_level: int = 0
        self.logid: str = ""
        self.only_execute_path_to_fetches: bool = False
        self._entries: Dict[str, str] = {}
        self._adapters: List[LoraAdapter] = []
        self._terminate = False
        # (session, number of its run). Single operations on it, and calls of sessions, exclude each other by the lock of
        # the interpreter; a run that ended meanwhile has another number.
        self._running: Set[Tuple[Any, int]] = set()

    @property
    def terminate(self) -> bool:
        """Whether runs with these options end with Cancelled."""
        return self._terminate

    @terminate.setter
    def terminate(self, value: bool) -> None:
        self._terminate = bool(value)
        for session, number in list(self._running) if value else ():
            session.cancel(number)

    def _begin(self, session: Any, number: int) -> None:
        self._running.add((session, number))
        if self._terminate:
            session.cancel(number)

    def _end(self, session: Any, number: int) -> None:
        self._running.discard((session, number))

    def add_active_adapter(self, adapter: LoraAdapter) -> None:
        """Runs take inputs that they are not given from the adapter."""
        self._adapters.append(adapter)

    def _parameters(self) -> Dict[str, OrtValue]:
        """The inputs of the adapters."""
        return {name: value for adapter in self._adapters for name, value in adapter._parameters.items()}

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Kept, without effect."""
        self._entries[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """The value of the entry. InvalidArgument: it was never added."""
        return _entry(self._entries, "run", key)


def _entry(entries: Dict[str, str], kind: str, key: str) -> str:
    if key not in entries:
        raise InvalidArgument(f"the {kind} options have no entry '{key}'; they have: {', '.join(sorted(entries)) or 'none'}")
    return entries[key]


def set_global_thread_pool_sizes(intra_op_num_threads: int, inter_op_num_threads: int = 0) -> None:
    """The threads of each session that is made later with SessionOptions.use_per_session_threads False. inter_op_num_threads is
    accepted."""
    if intra_op_num_threads < 0:
        raise InvalidArgument(f"{intra_op_num_threads} threads, expected 0 (all cores) or more")
    DEFAULTS["threads"] = intra_op_num_threads
