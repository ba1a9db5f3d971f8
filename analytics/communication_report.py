"""The measures of communication over many runs, by method or by the factors of a setting.

Source: MASBench, sections 4.3, 5.4-5.6, B.2-B.4 and C.4: tasks count alike and repetitions
of a task are averaged first; efficiency is the ratio of mean score to mean tokens; memory,
protocol and routing are the mechanisms that settings differ in.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from analytics.averages import mean
from analytics.communication import (
    CommunicationConfiguration,
    RunCommunication,
    measure_communication,
)
from analytics.communication_summary import (
    MEASURES,
    CommunicationSummary,
    Measure,
    summarize,
    value_of,
)
from analytics.paired_scores import mean_by_task
from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph
from graphstore.short_view import TableView, runs_in_short

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class MatchedLevels:
    """The levels of one factor while all other factors stay as they are.

    Attributes:
        factor: The factor.
        others: The other factors with their levels; first the method, where it must agree.
        levels: For each level the values by task id: what
            :func:`analytics.paired_scores.compare_many` takes.
    """

    factor: str
    others: tuple[tuple[str, str], ...]
    levels: dict[str, dict[str, float | None]]


@dataclass(frozen=True, slots=True, repr=False)
class CommunicationReport(TableView):
    """Many runs under one configuration.

    Attributes:
        configuration: What the measures were made with.
        rows: One for each run, in the order in which the runs came.
    """

    configuration: CommunicationConfiguration
    rows: tuple[RunCommunication, ...]

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    def to_dict(self) -> dict[str, Any]:
        """JSON values: ``configuration``, ``configuration_hash`` and ``rows``."""
        return {
            "configuration": asdict(self.configuration),
            "configuration_hash": self.configuration_hash,
            "rows": [
                {
                    **asdict(row),
                    "factors": dict(row.factors),
                    "transmitted_tokens": value_of(row, "transmitted_tokens"),
                    "message_phase_tokens": value_of(row, "message_phase_tokens"),
                }
                for row in self.rows
            ],
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a run: what it is of, a column for each factor, the measures."""
        import pandas

        columns: dict[str, tuple[str, list[Any]]] = {
            name: ("string", [getattr(row, name) for row in self.rows])
            for name in ("run", "name", "task", "task_id", "method", "method_id")
        }
        for name in self.configuration.factors:
            columns[name] = ("string", [dict(row.factors).get(name) for row in self.rows])
        for name in MEASURES:
            kind = "Int64" if name.endswith("_tokens") else "Float64"
            columns[name] = (kind, [value_of(row, name) for row in self.rows])
        columns["agents"] = ("Int64", [row.agents for row in self.rows])
        columns["missing"] = ("string", [" ".join(row.missing) or None for row in self.rows])
        return pandas.DataFrame(
            {name: pandas.Series(cells, dtype=kind) for name, (kind, cells) in columns.items()}
        )

    def rounds_to_pandas(self) -> "pandas.DataFrame":
        """One line a run and round: ``run``, ``method``, ``round``, messages and scores."""
        import pandas

        lines = []
        for row in self.rows:
            messages = {one.round: one for one in row.lengths}
            scores = {one.round: one for one in row.scores}
            for number in sorted(messages.keys() | scores.keys()):
                sent, scored = messages.get(number), scores.get(number)
                lines.append(
                    (
                        row.run,
                        row.method,
                        number,
                        sent.messages if sent else 0,
                        mean(sent.tokens) if sent else None,
                        mean(sent.characters) if sent else None,
                        scored.mean if scored else None,
                        scored.standing if scored else None,
                        scored.answer if scored else None,
                    )
                )
        kinds = {
            "run": "string",
            "method": "string",
            "round": "Int64",
            "messages": "Int64",
            "mean_tokens": "Float64",
            "mean_characters": "Float64",
            "score": "Float64",
            "standing": "Float64",
            "answer": "Float64",
        }
        cells = list(zip(*lines, strict=True)) or [()] * len(kinds)
        return pandas.DataFrame(
            {
                name: pandas.Series(list(column), dtype=kind)
                for (name, kind), column in zip(kinds.items(), cells, strict=True)
            }
        )

    def summaries(self, by: Sequence[str] = ("method",)) -> tuple[CommunicationSummary, ...]:
        """Means for each method, or for each combination of factors.

        Args:
            by: ``method`` and names of factors.

        Returns:
            Sorted by the values; missing ones come last.

        Raises:
            UsageError: A name is neither.
        """
        groups: dict[tuple[str | None, ...], list[RunCommunication]] = {}
        for row in self.rows:
            groups.setdefault(self._key(row, by), []).append(row)
        order = sorted(groups, key=lambda key: [(one is None, one or "") for one in key])
        return tuple(summarize(key, groups[key]) for key in order)

    def task_values(
        self, measure: Measure, by: Sequence[str] = ("method",)
    ) -> dict[tuple[str | None, ...], dict[str, float | None]]:
        """One value for each group and task id: what comparisons are made of.

        Raises:
            UsageError: There is no such measure, or no such factor.
        """
        if measure not in MEASURES:
            raise UsageError(
                f"there is no measure {measure!r}; choose one of {', '.join(MEASURES)}"
            )
        groups: dict[tuple[str | None, ...], list[RunCommunication]] = {}
        for row in self.rows:
            groups.setdefault(self._key(row, by), []).append(row)
        return {
            key: mean_by_task((row.task_id, value_of(row, measure)) for row in rows)
            for key, rows in groups.items()
        }

    def matched_levels(
        self, factor: str, measure: Measure, *, within_method: bool = False
    ) -> tuple[MatchedLevels, ...]:
        """The levels of a factor, compared only where all other factors agree.

        Runs that do not record the factor are left out; so are settings with one level.

        Args:
            factor: The factor.
            measure: What is compared.
            within_method: Whether the method must agree, too. Without it, methods that differ
                in this factor alone can be compared.

        Raises:
            UsageError: There is no such measure, or no such factor.
        """
        others = [name for name in self.configuration.factors if name != factor]
        if within_method:
            others.insert(0, "method")
        found: dict[tuple[tuple[str, str], ...], dict[str, dict[str, float | None]]] = {}
        for key, values in self.task_values(measure, (factor, *others)).items():
            level, rest = key[0], key[1:]
            if level is not None:
                setting = tuple(
                    (name, one)
                    for name, one in zip(others, rest, strict=True)
                    if one is not None
                )
                found.setdefault(setting, {})[level] = values
        return tuple(
            MatchedLevels(factor, setting, dict(sorted(levels.items())))
            for setting, levels in sorted(found.items())
            if len(levels) > 1
        )

    def _key(self, row: RunCommunication, by: Sequence[str]) -> tuple[str | None, ...]:
        for name in by:
            if name != "method" and name not in self.configuration.factors:
                known = ", ".join(("method", *self.configuration.factors))
                raise UsageError(f"runs cannot be grouped by {name!r}; choose from {known}")
        factors = dict(row.factors)
        return tuple(row.method if name == "method" else factors.get(name) for name in by)

    def _in_short(self) -> str:
        return runs_in_short(self.rows)


def evaluate_communication(
    graphs: Iterable[CollaborationGraph],
    configuration: CommunicationConfiguration | None = None,
) -> CommunicationReport:
    """The measures of many runs; the runs are taken one by one and not kept.

    Raises:
        UsageError: One of the graphs is a decomposition.
    """
    options = configuration or CommunicationConfiguration()
    return CommunicationReport(
        options, tuple([measure_communication(graph, options) for graph in graphs])
    )


def summaries_to_pandas(summaries: Iterable[CommunicationSummary]) -> "pandas.DataFrame":
    """One line a group: ``group``, ``runs``, ``tasks``, means, and what they rest on.

    ``score`` is the mean over ``score_tasks`` tasks, and so on for each measure.
    """
    import pandas

    found = list(summaries)
    columns: dict[str, tuple[str, list[Any]]] = {
        "group": ("string", [", ".join(one or "?" for one in s.group) for s in found]),
        "runs": ("Int64", [one.runs for one in found]),
        "tasks": ("Int64", [one.tasks for one in found]),
    }
    columns |= {name: ("Float64", [one.means[name] for one in found]) for name in MEASURES}
    columns |= {
        f"{name}_tasks": ("Int64", [one.known[name] for one in found]) for name in MEASURES
    }
    return pandas.DataFrame(
        {name: pandas.Series(cells, dtype=kind) for name, (kind, cells) in columns.items()}
    )


def curves_to_pandas(summaries: Iterable[CommunicationSummary]) -> "pandas.DataFrame":
    """One line a group and round; columns are the fields of the group's ``rounds``."""
    import pandas

    lines = [
        {"group": ", ".join(one or "?" for one in summary.group), **asdict(number)}
        for summary in summaries
        for number in summary.rounds
    ]
    return pandas.DataFrame(lines).convert_dtypes()
