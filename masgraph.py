"""masgraph: how did a team of LLM agents work together, and did it help?

The public names, for notebooks and programs::

    import masgraph as mg

    graphs = mg.read("traces/")
    mg.evaluate(graphs).to_pandas()
    mg.mine(graphs).to_pandas()

    with mg.open_store("masgraph.db") as store:
        mg.ingest("traces/", store)
        mg.query(store, "actions-by-role").to_pandas()
"""

from analytics.interventions import intervened_organization
from analytics.interventions_rewiring import rewire_organization
from analytics.run_diff import run_diff
from analytics.scorers.base import Scorer
from analytics.similarity.compare import align, similarities, similarity
from analytics.similarity.measure import MEASURES, SimilarityMeasure, measure_named
from analytics.verdicts import Verdict
from app import communication_jobs, compare_jobs, intervention_jobs, relation_jobs
from app.forest_files import load_forests, save_forests
from app.forest_notebook import build_forests, diagnose
from app.library_jobs import load_library, read_library, save_library
from app.notebook import GraphList, evaluate, ingest, mine, mine_library, query, read
from app.perturbation_notebook import (
    perturb,
    study_perturbations,
    suitability,
    train_embedding,
)
from app.relation_jobs import read_checks
from app.similarity_options import load_embedding, save_embedding
from app.sources import from_any_source
from app.trajectory_jobs import trajectories
from graphstore.builder import GraphBuilder, make_organization
from graphstore.errors import (
    GraphError,
    InputError,
    MasgraphError,
    MissingExtraError,
    NotFoundError,
    QueryError,
    QueryTimeoutError,
    StoreAuthError,
    StoreDamagedError,
    StoreError,
    StoreLockedError,
    StoreUnreachableError,
    UsageError,
)
from graphstore.exchange import (
    from_frames,
    from_networkx,
    read_file,
    to_frames,
    to_networkx,
    write_file,
)
from graphstore.model import (
    Access,
    Agent,
    Artifact,
    CollaborationGraph,
    Coupling,
    Edge,
    Link,
    Method,
    Node,
    Organization,
    Outcome,
    Proposal,
    Resource,
    Source,
    Task,
    Unit,
)
from graphstore.rows import QueryResult, WriteReport
from graphstore.store import GraphStore, open_store
from graphstore.validation import validate

communication = from_any_source(communication_jobs.communication)
compare_methods = from_any_source(compare_jobs.compare_methods)
execution = from_any_source(intervention_jobs.execution)
measure_interventions = from_any_source(intervention_jobs.measure)
predict_interventions = from_any_source(intervention_jobs.predict)
relations = from_any_source(relation_jobs.relations, without=True)

__all__ = [
    "MEASURES",
    "Access",
    "Agent",
    "Artifact",
    "CollaborationGraph",
    "Coupling",
    "Edge",
    "GraphBuilder",
    "GraphError",
    "GraphList",
    "GraphStore",
    "InputError",
    "Link",
    "MasgraphError",
    "Method",
    "MissingExtraError",
    "Node",
    "NotFoundError",
    "Organization",
    "Outcome",
    "Proposal",
    "QueryError",
    "QueryResult",
    "QueryTimeoutError",
    "Resource",
    "Scorer",
    "SimilarityMeasure",
    "Source",
    "StoreAuthError",
    "StoreDamagedError",
    "StoreError",
    "StoreLockedError",
    "StoreUnreachableError",
    "Task",
    "Unit",
    "UsageError",
    "Verdict",
    "WriteReport",
    "align",
    "build_forests",
    "communication",
    "compare_methods",
    "diagnose",
    "evaluate",
    "execution",
    "from_frames",
    "from_networkx",
    "ingest",
    "intervened_organization",
    "load_embedding",
    "load_forests",
    "load_library",
    "make_organization",
    "measure_interventions",
    "measure_named",
    "mine",
    "mine_library",
    "open_store",
    "perturb",
    "predict_interventions",
    "query",
    "read",
    "read_checks",
    "read_file",
    "read_library",
    "relations",
    "rewire_organization",
    "run_diff",
    "save_embedding",
    "save_forests",
    "save_library",
    "similarities",
    "similarity",
    "study_perturbations",
    "suitability",
    "to_frames",
    "to_networkx",
    "train_embedding",
    "trajectories",
    "validate",
    "write_file",
]
