// title: Handoffs that were never answered
// question: Which messages name a recipient that never acted afterwards?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: run: string = null -- only this run (its id)
// parameter: limit: integer = 20 -- rows at most
// column: run -- id of the run
// column: index -- position of the action
// column: sender -- name of the agent that acted
// column: sender_role -- role of the action
// column: receiver -- name of the agent that it was sent to
// column: receiver_role -- its role
// column: receiver_kind -- agent, tool, human or environment
// column: last_index -- the receiver's last action before, missing where it never acted
// column: actions_after -- actions of others that followed in the run
// column: receiver_id -- id of the receiver
// key: run, index, receiver_id

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
AND ($run IS NULL OR r.id = $run)
MATCH (r)-[:HAS_AGENT]->(g:Agent)
OPTIONAL MATCH (g)-[:PERFORMED]->(x:Action)
WITH r, g, max(x.index) AS last_index
MATCH (a:Action)-[:SENT_TO]->(g)
WHERE a.delivery = 'explicit' AND (last_index IS NULL OR last_index < a.index)
OPTIONAL MATCH (s:Agent)-[:PERFORMED]->(a)
WITH r, a, s, g, last_index
WHERE s IS NULL OR s.id <> g.id
RETURN r.id AS run, a.index AS index, s.name AS sender, a.role AS sender_role,
  g.name AS receiver, g.role AS receiver_role, g.kind AS receiver_kind, last_index,
  r.node_count - 1 - a.index AS actions_after, g.id AS receiver_id
ORDER BY actions_after DESC, run, index, receiver_id
LIMIT $limit
