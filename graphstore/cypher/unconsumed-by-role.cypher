// title: How much of each role's work nobody consumed
// question: Which roles talk past the team?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// column: role -- role of the action
// column: actions -- actions, without the last of each run
// column: unconsumed -- those that no later action consumed
// column: share -- unconsumed of all, from 0 to 1
// key: role

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
MATCH (r)-[:HAS_ACTION]->(a:Action)
WHERE a.index < r.node_count - 1
WITH a.role AS role, CASE WHEN EXISTS { (a)-[:INFORMS]->(:Action) } THEN 0 ELSE 1 END AS missed
WITH role, count(*) AS actions, sum(missed) AS unconsumed
RETURN role, actions, unconsumed, toFloat(unconsumed) / actions AS share
ORDER BY share DESC, role
