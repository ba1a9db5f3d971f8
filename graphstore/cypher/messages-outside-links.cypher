// title: Messages outside the permitted links
// question: Who talks to whom although the organization does not permit it?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: run: string = null -- only this run (its id)
// parameter: limit: integer = 20 -- rows at most
// column: run -- id of the run
// column: organization -- name of the run's organization
// column: sender -- name of the agent that acted
// column: receiver -- name of the agent that it was delivered to
// column: sender_unit -- unit that the sender plays
// column: receiver_unit -- unit that the receiver plays
// column: messages -- deliveries from the one to the other
// column: sender_id -- id of the sender
// column: receiver_id -- id of the receiver
// key: sender_id, receiver_id

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
AND ($run IS NULL OR r.id = $run)
MATCH (r)-[:CONFIGURED_AS]->(o:Organization)
MATCH (r)-[:HAS_AGENT]->(s:Agent)-[:PLAYS]->(u:Unit)
MATCH (r)-[:HAS_AGENT]->(g:Agent)-[:PLAYS]->(v:Unit)
WHERE u.id <> v.id AND NOT EXISTS { (u)-[:MAY_SEND]->(v) }
MATCH (s)-[:PERFORMED]->(a:Action)-[:SENT_TO]->(g)
WITH r.id AS run, o.name AS organization, s.name AS sender, g.name AS receiver,
  u.name AS sender_unit, v.name AS receiver_unit, count(a) AS messages, s.id AS sender_id,
  g.id AS receiver_id
RETURN run, organization, sender, receiver, sender_unit, receiver_unit, messages, sender_id,
  receiver_id
ORDER BY messages DESC, sender_id, receiver_id
LIMIT $limit
