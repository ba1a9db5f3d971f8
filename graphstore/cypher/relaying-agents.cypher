// title: Agents that only relay
// question: Which agents say nothing but what they were told?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: limit: integer = 20 -- rows at most
// column: run -- id of the run
// column: agent -- name of the agent
// column: role -- its role
// column: kind -- agent, tool, human or environment
// column: actions -- its actions, each with the content of a message that it was sent before
// column: sent -- deliveries of its actions
// column: agent_id -- id of the agent
// key: agent_id

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
MATCH (r)-[:HAS_AGENT]->(g:Agent)-[:PERFORMED]->(a:Action)
WITH r.id AS run, g.id AS agent_id, count(a) AS actions, count(a.content_hash) AS known,
  collect(DISTINCT a.content_hash) AS said
WHERE known = actions
MATCH (g:Agent {id: agent_id})<-[:SENT_TO]-(x:Action)
WITH run, agent_id, actions, said, collect(DISTINCT x.content_hash) AS heard
WHERE all(h IN said WHERE h IN heard)
MATCH (g:Agent {id: agent_id})-[:PERFORMED]->(a:Action)
MATCH (g)<-[:SENT_TO]-(x:Action)
WHERE x.index < a.index AND x.content_hash = a.content_hash
WITH run, agent_id, actions, count(DISTINCT a.id) AS relayed
WHERE relayed = actions
MATCH (g:Agent {id: agent_id})-[:PERFORMED]->(a:Action)-[:SENT_TO]->(b:Agent)
WITH run, agent_id, actions, count(b) AS sent
MATCH (g:Agent {id: agent_id})
RETURN run, g.name AS agent, g.role AS role, g.kind AS kind, actions, sent, agent_id
ORDER BY actions DESC, agent_id
LIMIT $limit
