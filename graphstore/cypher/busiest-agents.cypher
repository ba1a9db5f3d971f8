// title: The busiest agents
// question: Which agents do most of the work of their run?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: limit: integer = 20 -- rows at most
// column: run -- id of the run
// column: agent -- name of the agent
// column: role -- its role
// column: actions -- its actions
// column: share -- of all actions of the run, from 0 to 1
// column: tokens_out -- tokens that it wrote, missing where none is known
// column: agent_id -- id of the agent
// key: agent_id

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
MATCH (r)-[:HAS_AGENT]->(g:Agent)-[:PERFORMED]->(a:Action)
WITH r.id AS run, r.node_count AS all_actions, g.name AS agent, g.role AS role,
  g.id AS agent_id, count(a) AS actions, sum(a.tokens_out) AS total,
  count(a.tokens_out) AS known
RETURN run, agent, role, actions, toFloat(actions) / all_actions AS share,
  CASE WHEN known > 0 THEN total END AS tokens_out, agent_id
ORDER BY actions DESC, agent_id
LIMIT $limit
