# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs that stay bound from run to run."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Set, Union

from . import _lightnet
from ._arrays import OrtValue, OrtValueVector, array_at
from ._device import OrtDevice, check_device
from ._errors import InvalidArgument
from ._options import RunOptions

if TYPE_CHECKING:
    import numpy as np
    from ._session import InferenceSession


class IOBinding:
    """Inputs and outputs of a session that stay bound; see the class of this name in onnxruntime. One thread at a time."""

    def __init__(self, session: InferenceSession) -> None:
        session = getattr(session, "_session", session)  # of capi.onnxruntime_pybind11_state
        self._owner = session
        self._session = _lightnet.Session(session._model._model)
        self._inputs: Set[str] = set()
        self._outputs: Dict[str, Optional[OrtValue]] = {}  # the value that is bound; None: the run allocates the output

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        """Each run reads the array in place. InvalidArgument: a wrong name, type or shape."""
        self._session.bind_input(name, arr_on_cpu)
        self._inputs.add(name)

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """The same with an OrtValue."""
        self.bind_cpu_input(name, ortvalue)

    def bind_input(self, name: str, device_type: Union[str, OrtDevice], device_id: int, element_type: Any, shape: Sequence[int],
                   buffer_ptr: int) -> None:
        """Memory of the caller's, C-contiguous, which outlives the binding."""
        check_device(device_type)
        self.bind_cpu_input(name, array_at(buffer_ptr, tuple(shape), element_type))

    def bind_output(self, name: str, device_type: Union[str, OrtDevice] = "cpu", device_id: int = 0, element_type: Any = None,
                    shape: Optional[Sequence[int]] = None, buffer_ptr: Optional[int] = None) -> None:
        """Without an address, the run allocates the output; get_outputs returns it. An address needs element_type and
        shape."""
        check_device(device_type)
        if buffer_ptr is None:
            self._session.bind_output(name, None)
            self._outputs[name] = None
        elif element_type is None or shape is None:
            raise InvalidArgument(f"output '{name}' is bound to an address without element_type and shape")
        else:
            self.bind_ortvalue_output(name, array_at(buffer_ptr, tuple(shape), element_type))

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Each run writes the value in place. Its type and shape must be those of the output: run_with_iobinding raises
        InvalidArgument otherwise."""
        self._session.bind_output(name, ortvalue)
        self._outputs[name] = ortvalue

    def get_outputs(self) -> List[OrtValue]:
        """The outputs of the last run as OrtValue, in the order they were bound."""
        return [self._output(name) if value is None else value for name, value in self._outputs.items()]

    def get_outputs_as_ortvaluevector(self) -> OrtValueVector:
        """get_outputs as OrtValueVector."""
        return OrtValueVector(IOBinding.get_outputs(self))

    def _output(self, name: str) -> OrtValue:
        """A copy of an output that the run has allocated."""
        return OrtValue(self._session.output(name), self._session.output_info(name)[0])

    def copy_outputs_to_cpu(self) -> List[np.ndarray]:
        """The same as arrays; bfloat16 as OrtValue.numpy."""
        return [value.numpy() for value in IOBinding.get_outputs(self)]

    def clear_binding_inputs(self) -> None:
        """Unbinds all inputs."""
        for name in self._inputs:
            self._session.bind_input(name, None)
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        """Unbinds all outputs."""
        for name, value in self._outputs.items():
            if value is not None:
                self._session.bind_output(name, None)
        self._outputs.clear()

    def synchronize_inputs(self) -> None:
        """Accepted: there is one device."""

    def synchronize_outputs(self) -> None:
        """Accepted: there is one device."""

    def _check_outputs(self) -> None:
        """Bound values have the types and shapes of the outputs."""
        for name, value in self._outputs.items():
            if value is not None:
                has = value._type or value._array.dtype.name, value._array.shape
                if has != self._session.output_info(name):
                    raise InvalidArgument(f"output '{name}' is {self._session.output_info(name)}, the value bound to it {has}")

    def _run(self, run_options: Optional[RunOptions]) -> None:
        session = self._session
        parameters = run_options._parameters() if run_options is not None and run_options._adapters else {}
        added = [name for name in parameters if name not in self._inputs]
        for name in added:
            session.bind_input(name, parameters[name])
        try:
            self._run_bound(run_options)
        finally:
            for name in added:
                session.bind_input(name, None)

    def _run_bound(self, run_options: Optional[RunOptions]) -> None:
        owner, session = self._owner, self._session
        if run_options is None and owner._deadline is None and owner._profile is None:  # the usual case, and the fastest
            owner._others.add(session)
            try:
                session.run_bound()
            finally:
                owner._others.discard(session)
        else:
            with owner._armed(session, run_options, owner._deadline):
                owner._run_bound(session)
        self._check_outputs()

    @property
    def _iobinding(self) -> SessionIOBinding:
        """The same binding, by the other signatures."""
        view = SessionIOBinding.__new__(SessionIOBinding)
        view.__dict__ = self.__dict__
        return view


class SessionIOBinding(IOBinding):
    """An IOBinding, whose methods have devices as arguments."""

    def bind_input(self, name: str, value: Any, element_type: Any = None, shape: Optional[Sequence[int]] = None,
                   buffer_ptr: Optional[int] = None) -> None:
        """value: an array; or an OrtDevice, for memory of the caller's."""
        if not isinstance(value, OrtDevice):
            self.bind_cpu_input(name, value)
        elif element_type is None or shape is None or buffer_ptr is None:
            raise InvalidArgument(f"input '{name}' is bound to a device without element_type, shape and buffer_ptr")
        else:
            super().bind_input(name, value, 0, element_type, shape, buffer_ptr)

    def bind_output(self, name: str, device: OrtDevice, element_type: Any = None, shape: Optional[Sequence[int]] = None,
                    buffer_ptr: Optional[int] = None) -> None:
        """As IOBinding.bind_output."""
        super().bind_output(name, device, 0, element_type, shape, buffer_ptr)

    def get_outputs(self) -> OrtValueVector:
        """The outputs of the last run, in the order they were bound."""
        return self.get_outputs_as_ortvaluevector()
