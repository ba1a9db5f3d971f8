// title: The panel by method
// question: Which methods work most like the runs that succeed, and how do they do in the rest of the panel?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// column: method -- name of the method, missing where a run names none
// column: runs -- evaluated runs
// column: success_rate -- share of those whose outcome is known that succeeded
// column: scored -- runs that had a forest to be compared with
// column: forest_match -- mean over the runs that have it: weighted similarity to the forest
// column: best_similarity -- mean over the runs that have it: similarity to the nearest reference
// column: node_validity -- mean over the runs that have it: share of outputs that were consumed
// column: content_redundancy -- mean over the runs that have it: share of repeated contents
// column: information_uptake -- mean over the runs that have it: cosine of contents along edges
// column: topology_efficiency -- mean over the runs that have it: parallelism for each active agent
// column: tokens -- mean over the runs that know both: tokens read and written
// column: structural -- failed, unlike the ways that work
// column: content -- failed, though like the ways that work
// column: lucky -- succeeded, unlike the ways that work
// column: sound -- succeeded, like the ways that work
// column: configuration_hash -- of the configuration that the panel was computed under
// column: method_id -- id of the method
// key: method_id, configuration_hash

MATCH (e:Evaluation)-[:OF]->(r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH e, r, m
ORDER BY e.id
WITH m.name AS method, m.id AS method_id, e.configuration_hash AS configuration_hash,
  count(DISTINCT r.id) AS runs,
  collect(CASE WHEN e.success THEN 1.0 WHEN NOT e.success THEN 0.0 END) AS outcomes,
  collect(e.forest_match) AS fm, collect(e.best_similarity) AS bs,
  collect(e.node_validity) AS nv, collect(e.content_redundancy) AS cr,
  collect(e.information_uptake) AS iu, collect(e.topology_efficiency) AS te,
  collect(e.tokens_in + e.tokens_out) AS tk, collect(e.diagnosis) AS ds
RETURN method, runs,
  CASE WHEN size(outcomes) > 0
    THEN reduce(total = 0.0, x IN outcomes | total + x) / size(outcomes) END AS success_rate,
  size(fm) AS scored,
  CASE WHEN size(fm) > 0
    THEN reduce(total = 0.0, x IN fm | total + x) / size(fm) END AS forest_match,
  CASE WHEN size(bs) > 0
    THEN reduce(total = 0.0, x IN bs | total + x) / size(bs) END AS best_similarity,
  CASE WHEN size(nv) > 0
    THEN reduce(total = 0.0, x IN nv | total + x) / size(nv) END AS node_validity,
  CASE WHEN size(cr) > 0
    THEN reduce(total = 0.0, x IN cr | total + x) / size(cr) END AS content_redundancy,
  CASE WHEN size(iu) > 0
    THEN reduce(total = 0.0, x IN iu | total + x) / size(iu) END AS information_uptake,
  CASE WHEN size(te) > 0
    THEN reduce(total = 0.0, x IN te | total + x) / size(te) END AS topology_efficiency,
  CASE WHEN size(tk) > 0
    THEN reduce(total = 0.0, x IN tk | total + x) / size(tk) END AS tokens,
  size([x IN ds WHERE x = 'structural']) AS structural,
  size([x IN ds WHERE x = 'content']) AS content,
  size([x IN ds WHERE x = 'lucky']) AS lucky,
  size([x IN ds WHERE x = 'sound']) AS sound,
  configuration_hash, method_id
ORDER BY forest_match IS NULL, forest_match DESC, method_id, configuration_hash
