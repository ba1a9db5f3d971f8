"""What a perturbation study found: response curves with intervals, and their verdicts."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from analytics.perturbation import EditName
from analytics.statistics import Interval
from graphstore.identity import configuration_hash
from graphstore.short_view import TableView, counted

if TYPE_CHECKING:
    import pandas

QuantityKind = Literal["measure", "metric"]
Verdict = Literal["falls", "rises", "flat", "unclear"]

NO_CHANGE = 1e-9
"""Values that differ by no more than this are equal but for rounding."""


@dataclass(frozen=True, slots=True)
class ResponsePoint:
    """The mean response at one rate.

    Attributes:
        rate: Share of nodes or edges that was to be edited, 0 to 1.
        changed: Share that was edited, mean over graphs; None where no graph could be.
        value: Mean over graphs with its interval.
        step: Mean of the paired differences to the rate before; None at the first rate.
    """

    rate: float
    changed: float | None
    value: Interval
    step: Interval | None


@dataclass(frozen=True, slots=True)
class Response:
    """How one quantity answers to one edit.

    Attributes:
        quantity: Name of a similarity measure or of a metric of the panel.
        kind: ``measure``: similarity of the edited graph to the original one, so 1 at rate
            0. ``metric``: the metric of the edited graph.
        edit: The edit.
        points: One for each rate, ascending, from rate 0.
        change: Mean of the paired differences between the largest rate and rate 0.
        verdict: ``falls`` or ``rises``: the interval of the change lies wholly below or
            above 0. ``flat``: no graph's value moves at any rate. ``unclear``: the interval
            holds 0. None: no graph has a value, or too few for an interval.
        steady: Whether no single step goes against the verdict beyond its interval; None
            where the verdict is neither ``falls`` nor ``rises``.
    """

    quantity: str
    kind: QuantityKind
    edit: EditName
    points: tuple[ResponsePoint, ...]
    change: Interval
    verdict: Verdict | None
    steady: bool | None


@dataclass(frozen=True, repr=False)
class PerturbationStudy(TableView):
    """Response curves of many quantities to many edits.

    Attributes:
        configuration: Everything that the result depends on beside the graphs, as JSON
            values: edits, rates, seed, repeats, measures, metrics, bootstrap.
        graphs: Number of graphs that were edited.
        tasks: Number of their tasks.
        resampled: What the intervals resample: whole tasks, or single graphs where there is
            one task only.
        responses: By quantity as configured, then by edit.
    """

    configuration: dict[str, Any]
    graphs: int
    tasks: int
    resampled: Literal["task", "graph"]
    responses: tuple[Response, ...]

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return configuration_hash(self.configuration)

    def response(self, quantity: str, edit: str) -> Response:
        """The response of one quantity to one edit.

        Raises:
            KeyError: It was not studied.
        """
        for one in self.responses:
            if one.quantity == quantity and one.edit == edit:
                return one
        raise KeyError((quantity, edit))

    def to_dict(self) -> dict[str, Any]:
        """JSON values; an interval is its mean, ends and number of graphs."""
        return {
            "configuration": self.configuration,
            "configuration_hash": self.configuration_hash,
            "graphs": self.graphs,
            "tasks": self.tasks,
            "resampled": self.resampled,
            "responses": [
                {
                    "quantity": one.quantity,
                    "kind": one.kind,
                    "edit": one.edit,
                    "verdict": one.verdict,
                    "steady": one.steady,
                    "change": _short(one.change),
                    "points": [
                        {
                            "rate": point.rate,
                            "changed": point.changed,
                            "value": _short(point.value),
                            "step": None if point.step is None else _short(point.step),
                        }
                        for point in one.points
                    ],
                }
                for one in self.responses
            ],
            "notes": list(self.notes),
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the intervals must know; the quantities concerned, where not all.

        That nothing moved is said by the verdict.
        """
        about: dict[str, list[str]] = {}
        moving = [one for one in self.responses if one.verdict != "flat"]
        for one in moving:
            for note in one.change.notes:
                about.setdefault(note, []).append(one.quantity)
        found = []
        for note, names in about.items():
            whom = ", ".join(dict.fromkeys(names))
            found.append(note if len(names) == len(moving) else f"{whom}: {note}")
        return tuple(found)

    def to_pandas(self) -> "pandas.DataFrame":
        """One line for each quantity, edit and rate; nullable types."""
        import pandas

        rows = [(one, point) for one in self.responses for point in one.points]
        columns: dict[str, tuple[str, list[Any]]] = {
            "quantity": ("string", [one.quantity for one, _ in rows]),
            "kind": ("string", [one.kind for one, _ in rows]),
            "edit": ("string", [one.edit for one, _ in rows]),
            "rate": ("Float64", [point.rate for _, point in rows]),
            "changed": ("Float64", [point.changed for _, point in rows]),
            "mean": ("Float64", [point.value.estimate for _, point in rows]),
            "low": ("Float64", [point.value.low for _, point in rows]),
            "high": ("Float64", [point.value.high for _, point in rows]),
            "graphs": ("Int64", [point.value.values for _, point in rows]),
            "missing": ("Int64", [point.value.missing for _, point in rows]),
            "verdict": ("string", [one.verdict for one, _ in rows]),
        }
        return pandas.DataFrame(
            {
                name: pandas.Series(values, dtype=type_)
                for name, (type_, values) in columns.items()
            }
        )

    def _in_short(self) -> str:
        return (
            f"{counted(len(self.responses), 'response')} of {counted(self.graphs, 'graph')} on "
            f"{counted(self.tasks, 'task')}"
        )


def _short(interval: Interval) -> dict[str, Any]:
    whole = asdict(interval)
    return {
        "mean": whole["estimate"],
        **{name: whole[name] for name in ("low", "high", "values", "missing")},
    }
