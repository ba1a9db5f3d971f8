// title: Runs by share of guessed edges
// question: How far can the edges of each run be trusted?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: limit: integer = 20 -- rows at most
// column: run -- id of the run
// column: format -- format that it was read from
// column: method -- name of the method
// column: edges -- all consumptions
// column: inferred_edges -- those that the reader guessed
// column: share -- guessed of all, from 0 to 1
// key: run

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
AND r.edge_count > 0
RETURN r.id AS run, r.format AS format, m.name AS method, r.edge_count AS edges,
  r.inferred_edge_count AS inferred_edges,
  toFloat(r.inferred_edge_count) / r.edge_count AS share
ORDER BY share DESC, run
LIMIT $limit
