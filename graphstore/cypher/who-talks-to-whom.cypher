// title: Who talks to whom, by role
// question: Which roles send messages to which roles, and how much?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: limit: integer = 20 -- rows at most
// column: sender_role -- role of the action
// column: receiver_role -- role of the agent that it was delivered to
// column: messages -- deliveries: an action sent to three agents counts three times
// column: named -- deliveries whose receiver the trace names
// column: tokens_out -- tokens written for these deliveries, missing where none is known
// column: runs -- runs in which it happens
// key: sender_role, receiver_role

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
MATCH (r)-[:HAS_ACTION]->(a:Action)-[:SENT_TO]->(g:Agent)
WITH a.role AS sender_role, g.role AS receiver_role, count(*) AS messages,
  sum(CASE WHEN a.delivery = 'explicit' THEN 1 ELSE 0 END) AS named,
  sum(a.tokens_out) AS total, count(a.tokens_out) AS known, count(DISTINCT r.id) AS runs
RETURN sender_role, receiver_role, messages, named,
  CASE WHEN known > 0 THEN total END AS tokens_out, runs
ORDER BY messages DESC, sender_role, receiver_role
LIMIT $limit
