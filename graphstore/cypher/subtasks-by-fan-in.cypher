// title: Subtasks by fan-in
// question: Which subtasks depend on the most others?
// parameter: decomposition: string = null -- only this decomposition (its id)
// parameter: limit: integer = 20 -- rows at most
// column: decomposition -- id of the decomposition
// column: task -- name of the task
// column: index -- position of the subtask
// column: subtask -- its title
// column: role -- its role
// column: sources -- subtasks that it depends on directly
// column: followers -- subtasks that depend on it directly
// key: decomposition, index

MATCH (d:Decomposition)-[:OF_TASK]->(t:Task)
WHERE $decomposition IS NULL OR d.id = $decomposition
MATCH (d)-[:HAS_SUBTASK]->(s:Subtask)<-[:PRECEDES]-(x:Subtask)
WITH d, t, s, count(x) AS sources
OPTIONAL MATCH (s)-[:PRECEDES]->(y:Subtask)
WITH d, t, s, sources, count(y) AS followers
RETURN d.id AS decomposition, t.name AS task, s.index AS index, s.name AS subtask,
  s.role AS role, sources, followers
ORDER BY sources DESC, decomposition, index
LIMIT $limit
