# SPDX-License-Identifier: Apache-2.0
"""Sessions with states: outputs of a run that are inputs of the next one."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _lightnet
from ._errors import InvalidArgument
from ._session import Feed, Model, Source, _checked, _dict_of

if TYPE_CHECKING:
    import numpy as np


class StatefulSession:
    """Runs a model with states, such as the cache of a decoder: an output becomes an input of the next run, without a copy.
    One thread at a time.

        session = lightnet.StatefulSession("decoder.onnx")      # present.0.key becomes past_key_values.0.key, ..
        logits = session.run(["logits"], {"input_ids": ids, "attention_mask": mask})[0]

    path_or_bytes: a file, bytes, or a Model to share. links: {output: input}; None: as exporters name states (present and
    past or past_key_values, NAME_out and NAME_in or NAME, NAMEn and NAME). States begin with the inputs of the first run, or
    with zeros and empty caches. options: those of Model; a Model that is shared has its own. Raises ValueError: no output
    has such a name; InvalidArgument: a wrong name, types or shapes that differ.
    """

    def __init__(self, path_or_bytes: Union[Source, Model], links: Optional[Mapping[str, str]] = None, **options: Any) -> None:
        if options and isinstance(path_or_bytes, Model):
            raise InvalidArgument("options that change a model belong to the Model, not to a session that shares it")
        self._model = path_or_bytes if isinstance(path_or_bytes, Model) else Model(path_or_bytes, **options)
        self._session = _lightnet.Session(self._model._model)
        if links is None:
            self.links: Dict[str, str] = self._session.link_states()
        else:
            self.links = dict(links)
            for output, name in self.links.items():
                self._session.link(output, name)
        if not self.links:
            raise ValueError("no output is named after an input; pass links={output: input}")
        self._states = frozenset(self.links.values())
        self._names = tuple(name for name in self._model._output_names if name not in self.links)

    def run(self, output_names: Optional[Sequence[str]], input_feed: Feed) -> List[np.ndarray]:
        """The outputs `output_names` (None: all that are no states), for the inputs that are no states, or replace one
        (copied). A failed run leaves the states as they were, or as input_feed set them. Raises what
        InferenceSession.run raises."""
        feed = _dict_of(_checked(output_names, input_feed, None))
        for name in self._states.intersection(feed):
            self._session.set_input(name, feed.pop(name))
        try:
            return self._session.run(feed, tuple(output_names) if output_names else self._names)
        finally:
            if self._model._messages:
                self._model._warn()

    def reset(self) -> None:
        """The next run begins with zeros and empty caches."""
        self._session.reset_states()

    def fork(self) -> StatefulSession:
        """A session that continues from the states of this one: several answers to one prompt, which is computed once."""
        other = StatefulSession(self._model, self.links)
        other._session.copy_states(self._session)
        return other
