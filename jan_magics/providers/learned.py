"""What servers have refused of their models in this kernel, so that it is not sent again."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from jan_magics.domain.errors import Refused
from jan_magics.domain.models import ModelRef


@dataclass(slots=True)
class Learned:
    """Refusals by model: what it lacks, parameters with what was said of each, keys of bodies."""

    _lacks: dict[ModelRef, frozenset[Refused]] = field(default_factory=dict)
    _parameters: dict[ModelRef, Mapping[str, str]] = field(default_factory=dict)
    _keys: dict[ModelRef, Mapping[str, str]] = field(default_factory=dict)

    def lacks(self, model: ModelRef) -> frozenset[Refused]:
        """Return what was refused of any request for a model."""
        return self._lacks.get(model, frozenset())

    def note(self, model: ModelRef, refused: Refused) -> None:
        """Remember a refusal."""
        self._lacks[model] = self.lacks(model) | {refused}

    def parameters(self, model: ModelRef) -> Mapping[str, str]:
        """Return the parameters that were refused, each with the reason."""
        return self._parameters.get(model, MappingProxyType({}))

    def note_parameters(self, model: ModelRef, names: Iterable[str], why: str) -> None:
        """Remember parameters by their common names."""
        self._parameters[model] = {**self.parameters(model), **dict.fromkeys(names, why)}

    def keys(self, model: ModelRef) -> Mapping[str, str]:
        """Return the keys of a body that are called otherwise; "" = they are left out."""
        return self._keys.get(model, MappingProxyType({}))

    def note_keys(self, model: ModelRef, keys: Mapping[str, str]) -> None:
        """Remember what keys of a body are called."""
        self._keys[model] = {**self.keys(model), **keys}
