// title: A run, action by action
// question: What happened in a run, in order?
// parameter: run: string -- id of the run
// parameter: characters: integer = 200 -- length at which a content is cut
// column: index -- position of the action, from 0
// column: round -- its round, where the trace counts them
// column: agent -- name of the agent that acted
// column: role -- role of the action
// column: kind -- agent_message, tool_call or decision
// column: name -- short label of the action
// column: recipients -- names of the agents that it was delivered to
// column: delivery -- how the recipients are known
// column: sources -- indexes of the actions that it consumed
// column: status -- ok or error, where the trace tells
// column: tokens_in -- tokens read
// column: tokens_out -- tokens written
// column: text -- the beginning of its content
// key: index

MATCH (:Run {id: $run})-[:HAS_ACTION]->(a:Action)
OPTIONAL MATCH (g:Agent)-[:PERFORMED]->(a)
OPTIONAL MATCH (a)-[:SENT_TO]->(b:Agent)
WITH a, g, b
ORDER BY a.index, b.position
WITH a, g, collect(b.name) AS recipients
OPTIONAL MATCH (s:Action)-[:INFORMS]->(a)
WITH a, g, recipients, s
ORDER BY a.index, s.index
WITH a, g, recipients, collect(s.index) AS sources
RETURN a.index AS index, a.round AS round, g.name AS agent, a.role AS role, a.kind AS kind,
  a.name AS name, recipients, a.delivery AS delivery, sources, a.status AS status,
  a.tokens_in AS tokens_in, a.tokens_out AS tokens_out,
  substring(a.content, 0, $characters) AS text
ORDER BY index
