// title: Tool calls that failed, and what came next
// question: What does the team do after a tool call fails?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: run: string = null -- only this run (its id)
// parameter: limit: integer = 20 -- rows at most
// column: run -- id of the run
// column: index -- position of the failed call
// column: tool -- its short label
// column: agent -- name of the agent that made it
// column: next_index -- position of the next action, missing where the run ends
// column: next_agent -- name of the agent that acted next
// column: next_role -- its role
// column: next_kind -- agent_message, tool_call or decision
// column: next_name -- its short label
// column: next_status -- ok or error, where the trace tells
// column: retried -- whether the next action calls the same tool
// key: run, index

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
AND ($run IS NULL OR r.id = $run)
MATCH (r)-[:HAS_ACTION]->(a:Action)
WHERE a.kind = 'tool_call' AND a.status = 'error'
WITH r, a
ORDER BY r.id, a.index
LIMIT $limit
OPTIONAL MATCH (g:Agent)-[:PERFORMED]->(a)
OPTIONAL MATCH (a)-[:NEXT]->(b:Action)
OPTIONAL MATCH (h:Agent)-[:PERFORMED]->(b)
RETURN r.id AS run, a.index AS index, a.name AS tool, g.name AS agent, b.index AS next_index,
  h.name AS next_agent, b.role AS next_role, b.kind AS next_kind, b.name AS next_name,
  b.status AS next_status, b.kind = 'tool_call' AND b.name = a.name AS retried
ORDER BY run, index
