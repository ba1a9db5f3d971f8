"""The fields of an OpenMAS-GCom record, in groups or flat, under each of their names.

Source: OpenMAS-GCom, Tables 8-10 and appendix B.3.
"""

from typing import Any

from graphstore.model import Attributes

_SYMBOLS = {
    "V": ("V", "units", "nodes", "node_list"),
    "E": ("E", "edges", "links", "edge_list"),
    "S": ("S", "state", "shared_state"),
    "pi": ("pi", "\u03c0", "policy", "routing_policy"),
}
_GROUPS: dict[str, tuple[str, ...]] = {
    "task": (
        "dataset_id", "dataset", "sample_id", "split", "input", "question", "gold_answer",
        "parser_version", "tier", "domain",
    ),
    "organization": (
        "method_id", "method", "organization_hash", "role_configuration", "topology",
        "learning", "roles", "verification", "recovery",
        *(name for names in _SYMBOLS.values() for name in names),
    ),
    "backend": (
        "backend_configuration_id", "backend_configuration", "prompt_template_hash",
        "runtime_limits", "random_seed", "seed",
    ),
    "prediction": (
        "raw_response", "parsed_prediction", "invalid_parse", "invalid_parse_flag", "metric",
        "metric_name", "metric_result", "final_answer", "success", "correct",
    ),
    "cost": (
        "token_usage", "tokens", "tokens_in", "tokens_out", "model_calls", "calls",
        "executed_nodes", "executed_edges", "retries", "latency", "termination_reason",
        "termination_status", "cost_usd",
    ),
    "intervention": (
        "reference_organization_hash", "intervention_type", "intervention_parameters",
        "changed_nodes", "changed_edges", "injected_records", "failed_workers",
        "recovery_action",
    ),
}  # fmt: skip
_FIELDS = frozenset(field for fields in _GROUPS.values() for field in fields)
_OWN = frozenset({"openmas_gcom", "id", "run_id"})


class Fields:
    """A record by groups; what is taken out of a group is not kept a second time.

    Args:
        record: The record, which is taken apart. Fields that stand beside the groups are put
            into theirs.

    Attributes:
        task: Task state.
        organization: Organization state.
        backend: Backend state.
        prediction: Prediction state.
        cost: Cost state.
        intervention: Intervention state.
        trace: The executed units, None where the record has none.
    """

    def __init__(self, record: dict[str, Any]) -> None:
        self._others = record
        self._is_flat = not _FIELDS.isdisjoint(record)
        self.task = self._group("task")
        self.organization = self._group("organization")
        self.backend = self._group("backend")
        self.prediction = self._group("prediction")
        self.cost = self._group("cost")
        self.intervention = self._group("intervention")
        self.trace: Any = self._others.pop("trace", None)
        self.has_run = self.trace is not None or bool(self.prediction or self.cost)

    def _group(self, name: str) -> dict[str, Any]:
        inner = self._others.get(name)
        found: dict[str, Any] = {}
        if isinstance(inner, dict):
            found = inner
            del self._others[name]
        for field in _GROUPS[name] if self._is_flat else ():
            if field in self._others and field not in found:
                found[field] = self._others.pop(field)
        return found

    def take_organization(self, symbol: str) -> Any:
        """Takes ``V``, ``E``, ``S`` or ``pi``, by whichever name it goes."""
        for name in _SYMBOLS[symbol]:
            if name in self.organization:
                return self.organization.pop(name)
        return None

    def rest(self) -> Attributes:
        """Everything that was not taken, by group."""
        kept: Attributes = {
            key: value for key, value in self._others.items() if key not in _OWN
        }
        for name in _GROUPS:
            if group := getattr(self, name):
                kept[name] = group
        return kept


def is_record(value: dict[str, Any]) -> bool:
    """Whether a JSON object has what makes a record: its mark, units with edges, or a trace.

    Args:
        value: The object.
    """
    if "openmas_gcom" in value:
        return True
    inner = value.get("organization")
    if isinstance(inner, dict) and _has(inner, "V", "E"):
        return True
    # Nodes and links alone are any graph.
    if value.keys() >= {"V", "E"} or (
        _has(value, "V", "E") and (_has(value, "S") or _has(value, "pi"))
    ):
        return True
    trace = value.get("trace")
    return isinstance(trace, list) and any(
        (isinstance(step, list) and len(step) == 3)
        or name_of(step, "unit", "v", "role") is not None
        for step in trace
    )


def _has(holder: dict[str, Any], *symbols: str) -> bool:
    return all(any(name in holder for name in _SYMBOLS[symbol]) for symbol in symbols)


def name_of(holder: Any, *fields: str) -> str | None:
    """The first of these fields that holds a text or number, as text."""
    if not isinstance(holder, dict):
        return None
    for field in fields:
        value = holder.get(field)
        if type(value) is str:
            if value:
                return value
        elif type(value) is int:
            return str(value)
    return None
