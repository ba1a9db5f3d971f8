// title: The longest silences
// question: Where does a run stand still, and who breaks the silence?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: run: string = null -- only this run (its id)
// parameter: limit: integer = 20 -- rows at most
// column: run -- id of the run
// column: index -- position of the action before the silence
// column: role -- its role
// column: name -- its short label
// column: next_index -- position of the next action
// column: next_role -- its role
// column: next_name -- its short label
// column: seconds -- from the end of the one (its start, where no end is known) to the start of the next
// key: run, index

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
AND ($run IS NULL OR r.id = $run)
MATCH (r)-[:HAS_ACTION]->(a:Action)-[:NEXT]->(b:Action)
WHERE a.started_at >= 0 AND b.started_at >= 0
AND (a.ended_at IS NULL OR a.ended_at >= 0)
WITH a.graph AS run, a.index AS index, b.index AS next_index,
  b.started_at - coalesce(a.ended_at, a.started_at) AS nanoseconds
WHERE nanoseconds > 0
WITH run, index, next_index, nanoseconds
ORDER BY nanoseconds DESC, run, index
LIMIT $limit
MATCH (r:Run {id: run})-[:HAS_ACTION]->(a:Action)
WHERE a.index = index
MATCH (r)-[:HAS_ACTION]->(b:Action)
WHERE b.index = next_index
RETURN run, index, a.role AS role, a.name AS name, next_index, b.role AS next_role,
  b.name AS next_name, nanoseconds / 1000000000.0 AS seconds
ORDER BY nanoseconds DESC, run, index
