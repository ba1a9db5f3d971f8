"""Parts by name: those that come with masgraph, and those that other packages add.

Others add theirs by an entry point: its name is the part's name, its value is a part, or a
class or function that makes one without arguments. Parts are imported when they are first
needed, and one that cannot be used costs a warning, not the program.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import ClassVar, Generic, Self, TypeVar, cast

from graphstore.errors import NotFoundError, UsageError

Part = TypeVar("Part")


@dataclass
class Plugins(Generic[Part]):
    """Parts of one kind, imported as they are needed. A kind is a subclass.

    Args:
        places: ``module:attribute`` by name.

    Attributes:
        warnings: One sentence for each part that could not be used.
        group: Name of the entry points that add parts.
        built_in: The places of those that need no installed metadata, in their order.
        needed: The attributes that a part has.
        telling: The one of them that tells a part from a function that makes one.
        called: A part in a sentence, by its ``name``.
        unknown: What is said of a ``name`` that no part has.
        left_out: What is said of a ``place`` whose ``name`` another place has ``taken``.
    """

    group: ClassVar[str]
    built_in: ClassVar[Mapping[str, str]]
    needed: ClassVar[tuple[str, ...]]
    telling: ClassVar[str]
    called: ClassVar[str]
    unknown: ClassVar[str]
    left_out: ClassVar[str]

    places: dict[str, str]
    warnings: list[str] = field(default_factory=list)
    _loaded: dict[str, Part] = field(default_factory=dict)
    _failed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def installed(cls) -> Self:
        """The built-in parts and those of installed packages."""
        made = cls(dict(cls.built_in))
        for point in sorted(entry_points(group=cls.group), key=lambda p: (p.name, p.value)):
            taken = made.places.setdefault(point.name, point.value)
            if taken != point.value:
                made.warn(cls.left_out.format(place=point.value, name=point.name, taken=taken))
        return made

    @property
    def names(self) -> tuple[str, ...]:
        """All known names, the built-in ones first. Imports nothing."""
        others = sorted(self.places.keys() - self.built_in.keys())
        return (*(name for name in self.built_in if name in self.places), *others)

    def part(self, name: str) -> Part:
        """The part with a name.

        Raises:
            NotFoundError: There is none.
            UsageError: It cannot be used.
        """
        if name not in self.places:
            raise NotFoundError(
                f"{self.unknown.format(name=name)}: use one of {', '.join(self.names)}"
            )
        if not self._load(name):
            raise UsageError(self._failed[name])
        return self._loaded[name]

    def parts(self) -> dict[str, Part]:
        """Every part that can be used, by name, in the order of :attr:`names`."""
        return {name: self._loaded[name] for name in self.names if self._load(name)}

    def warn(self, sentence: str) -> None:
        """Keeps a warning, each once."""
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def _load(self, name: str) -> bool:
        """Whether a part can be used; it is tried once."""
        if name not in self._loaded and name not in self._failed:
            try:
                self._loaded[name] = self._made(self.places[name])
            except Exception as error:
                sentence = (
                    f"{self.called.format(name=name)} cannot be used: "
                    f"{type(error).__name__}: {error}"
                )
                self._failed[name] = sentence
                self.warn(sentence)
        return name in self._loaded

    def _made(self, place: str) -> Part:
        module, _, attributes = place.partition(":")
        made: object = import_module(module)
        for name in attributes.split(".") if attributes else ():
            made = getattr(made, name)
        if isinstance(made, type) or not hasattr(made, self.telling):
            made = cast("Callable[[], object]", made)()
        missing = [name for name in self.needed if not hasattr(made, name)]
        if missing:
            raise TypeError(f"{place} has no {', '.join(missing)}")
        return cast("Part", made)
