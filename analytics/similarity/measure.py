"""How alike two graphs are: one interface, and the measures by name.

Every measure is a frozen dataclass whose fields are its configuration. Graphs are prepared
once each; similarities are taken of what was prepared. Nothing here loads numpy, so that
help texts can list the names.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from graphstore.errors import UsageError
from graphstore.identity import configuration_hash
from graphstore.model import CollaborationGraph

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

_HOMES: dict[str, tuple[str, str]] = {
    "forest": ("analytics.similarity.forest", "ForestMeasure"),
    "wl": ("analytics.similarity.wl", "WeisfeilerLehmanMeasure"),
    "motif": ("analytics.similarity.motif", "MotifMeasure"),
    "alignment": ("analytics.similarity.alignment", "AlignmentMeasure"),
    "edit": ("analytics.similarity.edit", "EditMeasure"),
    "gromov": ("analytics.similarity.gromov", "GromovMeasure"),
    "embedding": ("analytics.similarity.embedding", "EmbeddingMeasure"),
}

MEASURES: tuple[str, ...] = tuple(_HOMES)
"""The names that :func:`measure_named` knows."""


class SimilarityMeasure(Protocol):
    """What every measure can do.

    Attributes:
        name: One of :data:`MEASURES`.
    """

    name: ClassVar[str]

    @property
    def configuration(self) -> dict[str, Any]:
        """The name and every option, as JSON values."""

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""

    def prepare(self, graph: CollaborationGraph) -> Any:
        """What the measure reads of a graph, computed once; it can be pickled.

        It holds no ids: two graphs that differ in ids alone give equal values.
        """

    def obstacle(self, prepared: Any) -> str | None:
        """Why a prepared graph has no similarity with any, as the end of a sentence.

        None where nothing stands in the way; a pair can still have none.
        """

    def similarity(self, one: Any, other: Any) -> float | None:
        """Of two prepared graphs: 0 to 1, symmetric, 1 for a graph with itself.

        None where the measure is not defined: always where one of them has no nodes.
        """

    def matrix(
        self, ones: Sequence[Any], others: Sequence[Any] | None = None
    ) -> "NDArray[numpy.float64]":
        """All similarities at once.

        Args:
            ones: n prepared graphs.
            others: m prepared graphs; the first ones again where None.

        Returns:
            Shape (n, m); NaN where :meth:`similarity` gives None.
        """


@dataclass(frozen=True)
class Configured:
    """A measure's options as a value and as a hash."""

    name: ClassVar[str]

    @property
    def configuration(self) -> dict[str, Any]:
        """The name and every option, as JSON values."""
        return {"measure": self.name, **asdict(self)}

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return configuration_hash(self.configuration)

    def obstacle(self, prepared: Any) -> str | None:  # noqa: ARG002
        """Why a prepared graph has no similarity with any, as the end of a sentence."""
        return None


def measure_named(name: str, **options: Any) -> SimilarityMeasure:
    """A measure by its name.

    Args:
        name: One of :data:`MEASURES`.
        **options: The measure's own options; its defaults for the rest.

    Raises:
        UsageError: No measure has the name, or it has no such option or value.
        MissingExtraError: The measure needs a package that is not installed.
    """
    if name not in _HOMES:
        raise UsageError(f"there is no measure {name!r}; choose one of {', '.join(MEASURES)}")
    module, attribute = _HOMES[name]
    made: Any = getattr(import_module(module), attribute)
    known = [field.name for field in fields(made) if field.init]
    for option in options:
        if option not in known:
            raise UsageError(
                f"the measure {name} has no option {option!r}; it has {', '.join(known)}"
            )
    for field in fields(made):
        if field.name in options:
            _check_option(name, field.name, options[field.name], field.default)
    result: SimilarityMeasure = made(**options)
    return result


LARGEST = 2**53
"""The largest whole number that an option takes: beyond it, floats have gaps."""


def _check_option(measure: str, name: str, value: Any, default: Any) -> None:
    """Refuses a value of another kind than the option's default.

    Raises:
        UsageError: It is of another kind, not finite, or names other definitions.
    """
    if name == "definitions":
        if value != default:
            raise UsageError(
                f"the measure {measure} has the definitions {default!r} here, not {value!r}"
            )
    elif isinstance(default, float):
        if not _is_number(value, int, float) or not abs(value) <= LARGEST:
            raise UsageError(f"{name} must be a finite number, not {value!r}")
    elif isinstance(default, int):
        if not _is_number(value, int) or abs(value) > LARGEST:
            raise UsageError(f"{name} must be a whole number, not {value!r}")
    elif isinstance(default, str):
        if not isinstance(value, str):
            raise UsageError(f"{name} must be a name, not {value!r}")
    elif isinstance(default, tuple) and (
        not isinstance(value, (list, tuple)) or not all(_is_number(one, int) for one in value)
    ):
        raise UsageError(f"{name} must be a list of whole numbers, not {value!r}")


def _is_number(value: Any, *kinds: type) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)
