// title: Messages, tool calls and decisions by role
// question: How much does each role do, and of what kind?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// column: role -- role of the action
// column: actions -- all actions
// column: messages -- of kind agent_message
// column: tool_calls -- of kind tool_call
// column: decisions -- of kind decision
// column: runs -- runs in which the role acts
// key: role

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
MATCH (r)-[:HAS_ACTION]->(a:Action)
WITH a.role AS role, count(*) AS actions,
  sum(CASE WHEN a.kind = 'agent_message' THEN 1 ELSE 0 END) AS messages,
  sum(CASE WHEN a.kind = 'tool_call' THEN 1 ELSE 0 END) AS tool_calls,
  sum(CASE WHEN a.kind = 'decision' THEN 1 ELSE 0 END) AS decisions,
  count(DISTINCT r.id) AS runs
RETURN role, actions, messages, tool_calls, decisions, runs
ORDER BY actions DESC, role
