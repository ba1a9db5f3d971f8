// title: Agents that changed their answer
// question: Who gave up the first answer for another one, and was the new one better?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: limit: integer = 20 -- rows at most
// column: run -- id of the run
// column: unit -- the sample or state that is answered
// column: agent -- name of the agent
// column: role -- its role
// column: initial_value -- its first answer
// column: final_value -- its last answer
// column: score_change -- final score less initial score, missing where one is missing
// column: initial_id -- id of the first proposal
// column: final_id -- id of the last proposal
// key: initial_id, final_id

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
MATCH (r)-[:HAS_AGENT]->(g:Agent)-[:OFFERED]->(i:Proposal)
WHERE i.phase = 'initial'
MATCH (g)-[:OFFERED]->(f:Proposal)
WHERE f.phase = 'final' AND f.unit = i.unit AND f.value <> i.value
RETURN r.id AS run, i.unit AS unit, g.name AS agent, g.role AS role, i.value AS initial_value,
  f.value AS final_value, f.score - i.score AS score_change, i.id AS initial_id,
  f.id AS final_id
ORDER BY run, initial_id, final_id
LIMIT $limit
