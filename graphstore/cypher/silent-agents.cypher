// title: Agents that never acted
// question: Who is in the team and does nothing?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: limit: integer = 20 -- rows at most
// column: run -- id of the run
// column: agent -- name of the agent
// column: role -- its role
// column: kind -- agent, tool, human or environment
// column: received -- messages that it was sent
// column: named -- those in which the trace names it
// column: agent_id -- id of the agent
// key: agent_id

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
MATCH (r)-[:HAS_AGENT]->(g:Agent)
WHERE NOT EXISTS { (g)-[:PERFORMED]->(:Action) }
OPTIONAL MATCH (a:Action)-[:SENT_TO]->(g)
WITH r, g, count(a) AS received,
  sum(CASE WHEN a.delivery = 'explicit' THEN 1 ELSE 0 END) AS named
RETURN r.id AS run, g.name AS agent, g.role AS role, g.kind AS kind, received, named,
  g.id AS agent_id
ORDER BY named DESC, received DESC, agent_id
LIMIT $limit
