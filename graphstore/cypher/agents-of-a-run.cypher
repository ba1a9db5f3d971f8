// title: The agents of a run
// question: Who takes part in a run, and how much does each do, send and receive?
// parameter: run: string -- id of the run
// column: position -- position of the agent, from 0
// column: agent -- its name
// column: role -- its role
// column: role_name -- the trace's own word for the role
// column: kind -- agent, tool, human or environment
// column: actions -- actions that it performed
// column: sent -- deliveries of its actions
// column: received -- deliveries to it
// column: agent_id -- id of the agent
// key: position

MATCH (:Run {id: $run})-[:HAS_AGENT]->(g:Agent)
OPTIONAL MATCH (g)-[:PERFORMED]->(a:Action)
WITH g, count(a) AS actions
OPTIONAL MATCH (g)-[:PERFORMED]->(:Action)-[s:SENT_TO]->(:Agent)
WITH g, actions, count(s) AS sent
OPTIONAL MATCH (:Action)-[s:SENT_TO]->(g)
WITH g, actions, sent, count(s) AS received
RETURN g.position AS position, g.name AS agent, g.role AS role, g.role_name AS role_name,
  g.kind AS kind, actions, sent, received, g.id AS agent_id
ORDER BY position
