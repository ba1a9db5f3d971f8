// title: What critics and verifiers say, and who takes it up
// question: Does the team hear its critics?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: run: string = null -- only this run (its id)
// parameter: limit: integer = 20 -- rows at most
// parameter: characters: integer = 80 -- length at which a content is cut
// column: run -- id of the run
// column: index -- position of the critic's action
// column: critic -- name of the agent that acted
// column: role -- critic or verifier
// column: text -- the beginning of what it said
// column: consumers -- later actions that consumed it
// column: consumer_roles -- roles of those actions, in order of index
// column: next_consumer_index -- position of the first of them, missing where there is none
// key: run, index

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
AND ($run IS NULL OR r.id = $run)
MATCH (r)-[:HAS_ACTION]->(a:Action)
WHERE a.role IN ['critic', 'verifier']
WITH r, a
ORDER BY r.id, a.index
LIMIT $limit
OPTIONAL MATCH (g:Agent)-[:PERFORMED]->(a)
OPTIONAL MATCH (a)-[:INFORMS]->(c:Action)
WITH r, a, g, c
ORDER BY r.id, a.index, c.index
WITH r, a, g, count(c) AS consumers, collect(c.role) AS consumer_roles,
  min(c.index) AS next_consumer_index
RETURN r.id AS run, a.index AS index, g.name AS critic, a.role AS role,
  substring(a.content, 0, $characters) AS text, consumers, consumer_roles, next_consumer_index
ORDER BY run, index
