// title: Number of decompositions
// question: How many decompositions fit a filter?
// parameter: dataset: string = null -- only those of this data set's tasks (its name)
// parameter: method: string = null -- only those by this planner (its name)
// parameter: task: string = null -- only tasks whose name holds this text, in small letters
// column: decompositions -- those that fit
// key: decompositions

MATCH (d:Decomposition)-[:OF_TASK]->(t:Task)
WHERE ($dataset IS NULL OR t.dataset = $dataset)
AND ($task IS NULL OR toLower(t.name) CONTAINS $task)
AND ($method IS NULL OR EXISTS { (d)-[:BY_METHOD]->(:Method {name: $method}) })
WITH count(*) AS decompositions
RETURN decompositions
ORDER BY decompositions
