"""What a notebook calls for perturbation studies, suitability and embeddings."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import perturbation_jobs, similarity_options
from app.notebook import Source, need_source
from graphstore.listed import listed
from graphstore.model import CollaborationGraph
from graphstore.store import open_store

if TYPE_CHECKING:
    from analytics.perturbation import EditName, PerturbedGraph
    from analytics.perturbation_study import PerturbationConfiguration, PerturbationStudy
    from analytics.similarity.embedding import EmbeddingConfiguration, EmbeddingModel
    from analytics.similarity.measure import SimilarityMeasure
    from analytics.suitability import Suitability, SuitabilityConfiguration


def perturb(
    graph: CollaborationGraph, edit: "EditName", rate: float, *, seed: int = 0
) -> "PerturbedGraph":
    """A graph after a controlled edit (:func:`analytics.perturbation.perturb`).

    Args:
        graph: A run or a decomposition.
        edit: ``drop``, ``insert``, ``swap-roles``, ``rewire``, ``duplicate-content`` or
            ``truncate``.
        rate: Share to edit, 0 to 1.
        seed: Of the choice.

    Raises:
        UsageError: The edit is unknown, or rate or seed are out of range.
    """
    from analytics.perturbation import perturb as edited

    return edited(graph, edit, rate, seed=seed)


def study_perturbations(
    source: Source,
    measures: "Sequence[SimilarityMeasure | str] | str" = perturbation_jobs.DEFAULT_MEASURES,
    configuration: "PerturbationConfiguration | None" = None,
) -> "PerturbationStudy":
    """What measures and metrics make of edited graphs. A store is left as it is.

    Args:
        source: A store (open, or its path or URL), whose runs are all edited, or graphs.
        measures: Measures, or names of measures, or one name.
        configuration: Edits, rates, metrics; the defaults where None.

    Raises:
        UsageError: A measure is unknown, or was given twice.
    """
    from analytics.perturbation_study import study_perturbations as studied
    from analytics.similarity.measure import measure_named

    need_source(source)
    if isinstance(source, (str, Path)):
        with open_store(str(source), read_only=True) as store:
            return study_perturbations(store, measures, configuration)
    made = [measure_named(one) if isinstance(one, str) else one for one in listed(measures)]
    if isinstance(source, Iterable):
        return studied(source, made, configuration)
    return perturbation_jobs.perturb_graphs(source, made, configuration, limit=None, save=False)


def suitability(
    source: Source, configuration: "SuitabilityConfiguration | None" = None, **options: Any
) -> "Suitability":
    """Which tasks are deep, wide and better done by a team. A store is left as it is.

    Args:
        source: A store (open, or its path or URL), or runs.
        configuration: Thresholds; the defaults where None.
        **options: Fields of the configuration that take other values: ``depth``, ``width``,
            ``gain``, ``teams``, ``single``.

    Raises:
        UsageError: A threshold is out of range, or a graph is no run.
        NotFoundError: A method that is named made none of the runs.
    """
    from analytics.suitability import SuitabilityConfiguration, assess_tasks

    need_source(source)
    if isinstance(source, (str, Path)):
        with open_store(str(source), read_only=True) as store:
            return suitability(store, configuration, **options)
    chosen = replace(configuration or SuitabilityConfiguration(), **options)
    if isinstance(source, Iterable):
        return assess_tasks(source, chosen)
    return perturbation_jobs.assess_suitability(source, chosen, save=False)


def train_embedding(
    source: Source, configuration: "EmbeddingConfiguration | None" = None, **options: Any
) -> "EmbeddingModel":
    """Trains an embedding of graphs (needs ``masgraph[gnn]``). A store is left as it is.

    Args:
        source: A store (open, or its path or URL), whose runs are all seen, or graphs.
        configuration: Options; the defaults where None.
        **options: Fields of the configuration that take other values: ``epochs``, ...

    Raises:
        UsageError: Fewer than two different graphs have nodes, or an option makes no sense.
        MissingExtraError: torch or torch-geometric is not installed.
    """
    from analytics.similarity import embedding

    need_source(source)
    if isinstance(source, (str, Path)):
        with open_store(str(source), read_only=True) as store:
            return train_embedding(store, configuration, **options)
    chosen = replace(configuration or embedding.EmbeddingConfiguration(), **options)
    if isinstance(source, Iterable):
        return embedding.train_embedding(source, chosen)
    return similarity_options.train_on_store(source, chosen)
