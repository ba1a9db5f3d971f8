"""What a notebook calls for reference forests: from a store or from plain graphs."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from app import diagnosis_jobs, forest_jobs
from app.forest_files import LoadedForests, with_graphs
from app.jobs import Selection
from app.notebook import Source, need_source
from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph
from graphstore.store import open_store

if TYPE_CHECKING:
    from analytics.diagnosis_report import DiagnosisReport
    from analytics.forest import ForestConfiguration, ForestSet
    from analytics.forest_keys import Level


def build_forests(
    source: Source,
    configuration: "ForestConfiguration | None" = None,
    *,
    levels: "Iterable[Level] | Level | None" = None,
) -> "ForestSet":
    """Reference forests of successful runs. A store is left as it is.

    Args:
        source: A store (open, or its path or URL), or graphs.
        configuration: Options; the defaults where None.
        levels: What to pool; by default each task, category, data set and method.
    """
    need_source(source)
    if isinstance(source, (str, Path)):
        with open_store(str(source), read_only=True) as store:
            return build_forests(store, configuration, levels=levels)
    if not isinstance(source, Iterable):
        return forest_jobs.build_forests(source, configuration, levels=levels, save=False)
    from analytics.forest import ForestConfiguration
    from analytics.forest_keys import DEFAULT_LEVELS

    builder = forest_jobs.ForestBuilder(
        configuration or ForestConfiguration(), levels or DEFAULT_LEVELS, Selection()
    )
    for graph in source:
        builder.add(graph)
    return builder.build()


def diagnose(
    source: Source,
    *,
    forests: "LoadedForests | ForestSet | str | None" = None,
    levels: "Iterable[Level] | Level | None" = None,
) -> "DiagnosisReport":
    """Whether runs failed by structure or content, and where they part from what works.

    Args:
        source: A store (open, or its path or URL), or graphs. A store is left as it is.
        forests: Forests from a file, or built from the same source: one of these is needed
            for plain graphs; or from a store the id of a set, None for the only one.
        levels: Of the forests to use; all by default.
    """
    need_source(source)
    if isinstance(source, (str, Path)):
        with open_store(str(source), read_only=True) as store:
            return diagnose(store, forests=forests, levels=levels)
    from analytics.forest import ForestSet

    if isinstance(forests, ForestSet):
        source = list(source) if isinstance(source, Iterable) else source
        forests = with_graphs(forests, source)
    if isinstance(forests, LoadedForests):
        from analytics.diagnosis_report import diagnose_runs

        graphs: Iterable[CollaborationGraph] = (
            source if isinstance(source, Iterable) else source.graphs(kind="run")
        )
        return diagnose_runs(
            graphs,
            diagnosis_jobs.make_diagnostician(forests.forests, forests.graphs, levels),
        )
    if isinstance(source, Iterable):
        raise UsageError(
            "graphs without a store are compared with forests from a file, or with those that "
            "mg.build_forests makes of them"
        )
    return diagnosis_jobs.diagnose(source, forests=forests, levels=levels, save=False)
