// title: Whose output is consumed by whom, by role
// question: Which roles build on the output of which roles, and how much of that is a guess?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: limit: integer = 20 -- rows at most
// column: source_role -- role of the action whose output is consumed
// column: consumer_role -- role of the action that consumes it
// column: edges -- consumptions
// column: inferred_edges -- those that the reader guessed
// column: runs -- runs in which it happens
// key: source_role, consumer_role

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
MATCH (r)-[:HAS_ACTION]->(a:Action)-[i:INFORMS]->(c:Action)
WITH a.role AS source_role, c.role AS consumer_role, count(*) AS edges,
  sum(CASE WHEN i.basis = 'inferred' THEN 1 ELSE 0 END) AS inferred_edges,
  count(DISTINCT r.id) AS runs
RETURN source_role, consumer_role, edges, inferred_edges, runs
ORDER BY edges DESC, source_role, consumer_role
LIMIT $limit
