// title: Actions that nobody consumed
// question: Whose work went nowhere?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: run: string = null -- only this run (its id)
// parameter: limit: integer = 20 -- rows at most
// column: run -- id of the run
// column: index -- position of the action
// column: agent -- name of the agent that acted
// column: role -- role of the action
// column: kind -- agent_message, tool_call or decision
// column: name -- short label of the action
// column: delivery -- how its recipients are known, missing where it went to nobody
// column: is_last -- whether the run ends with it, so that nobody could
// key: run, index

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
AND ($run IS NULL OR r.id = $run)
MATCH (r)-[:HAS_ACTION]->(a:Action)
WHERE NOT EXISTS { (a)-[:INFORMS]->(:Action) }
WITH r, a
ORDER BY r.id, a.index
LIMIT $limit
OPTIONAL MATCH (g:Agent)-[:PERFORMED]->(a)
RETURN r.id AS run, a.index AS index, g.name AS agent, a.role AS role, a.kind AS kind,
  a.name AS name, a.delivery AS delivery, a.index = r.node_count - 1 AS is_last
ORDER BY run, index
