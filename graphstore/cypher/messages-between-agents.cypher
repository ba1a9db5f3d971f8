// title: Who talks to whom in one run
// question: Which agents of a run send messages to which agents, and how much?
// parameter: run: string -- id of the run
// column: sender -- name of the agent that acted
// column: sender_role -- its role
// column: receiver -- name of the agent that it was delivered to
// column: receiver_role -- its role
// column: messages -- deliveries from the one to the other
// column: named -- deliveries whose receiver the trace names
// column: tokens_out -- tokens written for them, missing where none is known
// column: sender_id -- id of the sender
// column: receiver_id -- id of the receiver
// key: sender_id, receiver_id

MATCH (:Run {id: $run})-[:HAS_AGENT]->(s:Agent)-[:PERFORMED]->(a:Action)-[:SENT_TO]->(g:Agent)
WITH s.name AS sender, s.role AS sender_role, g.name AS receiver, g.role AS receiver_role,
  count(*) AS messages, sum(CASE WHEN a.delivery = 'explicit' THEN 1 ELSE 0 END) AS named,
  sum(a.tokens_out) AS total, count(a.tokens_out) AS known, s.id AS sender_id, g.id AS receiver_id
RETURN sender, sender_role, receiver, receiver_role, messages, named,
  CASE WHEN known > 0 THEN total END AS tokens_out, sender_id, receiver_id
ORDER BY messages DESC, sender_id, receiver_id
