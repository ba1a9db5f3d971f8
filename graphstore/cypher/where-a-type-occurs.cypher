// title: Where a subtask type occurs
// question: Which subtasks have a learned type?
// parameter: subtask_type: string -- id or name of the type
// parameter: limit: integer = 20 -- rows at most
// column: graph -- id of the decomposition or run
// column: index -- position of the subtask
// column: name -- its title
// column: content -- its objective
// column: subtask_type -- id of the type
// key: subtask_type, graph, index

MATCH (x:SubtaskType)
WHERE x.id = $subtask_type OR x.name = $subtask_type
MATCH (n)-[:OF_TYPE]->(x)
RETURN n.graph AS graph, n.index AS index, n.name AS name, n.content AS content,
  x.id AS subtask_type
ORDER BY subtask_type, graph, index
LIMIT $limit
