// title: Metrics by method
// question: How do methods differ in structure?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// column: method -- name of the method, missing where a run names none
// column: runs -- evaluated runs
// column: density -- mean over the runs that have it: share of the possible edges that exist
// column: reachable_pair_fraction -- mean over the runs that have it: share of the ordered pairs with a path
// column: average_path_length -- mean over the runs that have it: mean length of the shortest paths
// column: normalized_source_entropy -- mean over the runs that have it: how evenly the sources are consumed
// column: node_validity -- mean over the runs that have it: share of valid nodes
// column: content_redundancy -- mean over the runs that have it: share of repeated contents
// column: configuration_hash -- of the configuration that the metrics were computed under
// column: method_id -- id of the method
// key: method_id, configuration_hash

MATCH (e:Evaluation)-[:OF]->(r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH e, r, m
ORDER BY e.id
WITH m.name AS method, m.id AS method_id, e.configuration_hash AS configuration_hash,
  count(DISTINCT r.id) AS runs, collect(e.density) AS ds,
  collect(e.reachable_pair_fraction) AS fs,
  collect(e.average_path_length) AS ls,
  collect(e.normalized_source_entropy) AS es,
  collect(e.node_validity) AS vs,
  collect(e.content_redundancy) AS cs
RETURN method, runs,
  CASE WHEN size(ds) > 0
    THEN reduce(total = 0.0, x IN ds | total + x) / size(ds) END AS density,
  CASE WHEN size(fs) > 0
    THEN reduce(total = 0.0, x IN fs | total + x) / size(fs) END AS reachable_pair_fraction,
  CASE WHEN size(ls) > 0
    THEN reduce(total = 0.0, x IN ls | total + x) / size(ls) END AS average_path_length,
  CASE WHEN size(es) > 0
    THEN reduce(total = 0.0, x IN es | total + x) / size(es) END AS normalized_source_entropy,
  CASE WHEN size(vs) > 0
    THEN reduce(total = 0.0, x IN vs | total + x) / size(vs) END AS node_validity,
  CASE WHEN size(cs) > 0
    THEN reduce(total = 0.0, x IN cs | total + x) / size(cs) END AS content_redundancy,
  configuration_hash, method_id
ORDER BY method_id, configuration_hash
