// title: Actions that consumed the most
// question: Where does a team bring its threads together?
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
// column: sources -- actions whose output it consumed
// column: roles -- different roles among them
// key: run, index

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
AND ($run IS NULL OR r.id = $run)
MATCH (r)-[:HAS_ACTION]->(a:Action)<-[:INFORMS]-(x:Action)
WITH a.graph AS run, a.index AS index, count(x) AS sources, count(DISTINCT x.role) AS roles
ORDER BY sources DESC, run, index
LIMIT $limit
MATCH (:Run {id: run})-[:HAS_ACTION]->(a:Action)
WHERE a.index = index
OPTIONAL MATCH (g:Agent)-[:PERFORMED]->(a)
RETURN run, index, g.name AS agent, a.role AS role, a.kind AS kind, a.name AS name,
  sources, roles
ORDER BY sources DESC, run, index
