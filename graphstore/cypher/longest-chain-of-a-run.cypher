// title: The longest chain of consumption in a run
// question: Through which actions, each consuming the one before, does the longest line of work in a run go?
// parameter: run: string -- id of the run
// column: step -- place on the chain, from 1
// column: index -- position of the action in the run
// column: agent -- name of the agent that acted
// column: role -- role of the action
// column: kind -- agent_message, tool_call or decision
// column: name -- short label of the action
// column: basis -- how it is known that it consumed the step before, missing for the first
// key: step

MATCH (:Run {id: $run})-[:HAS_ACTION]->(a:Action)
OPTIONAL MATCH (s:Action)-[:INFORMS]->(a)
WITH a.index AS position, s.index AS source
ORDER BY position, source
WITH position, collect(source) AS sources
ORDER BY position
WITH collect(sources) AS graph
WITH graph, reduce(found = [], sources IN graph | found + [
  1 + reduce(most = 0, s IN sources | CASE WHEN found[s] > most THEN found[s] ELSE most END)]) AS depths
WITH graph, depths,
  reduce(last = 0, i IN range(0, size(depths) - 1) |
    CASE WHEN depths[i] > depths[last] THEN i ELSE last END) AS last
WITH reduce(chain = [last], i IN range(2, depths[last]) |
  [head([s IN graph[head(chain)] WHERE depths[s] = depths[head(chain)] - 1])] + chain) AS chain
UNWIND range(0, size(chain) - 1) AS place
WITH place + 1 AS step, chain[place] AS index,
  CASE WHEN place > 0 THEN chain[place - 1] END AS previous
MATCH (:Run {id: $run})-[:HAS_ACTION]->(a:Action)
WHERE a.index = index
OPTIONAL MATCH (g:Agent)-[:PERFORMED]->(a)
OPTIONAL MATCH (s:Action)-[i:INFORMS]->(a)
WHERE s.index = previous
RETURN step, index, g.name AS agent, a.role AS role, a.kind AS kind, a.name AS name,
  i.basis AS basis
ORDER BY step
