// title: Decompositions, a page at a time
// question: Which decompositions are there, and how large is each?
// parameter: dataset: string = null -- only those of this data set's tasks (its name)
// parameter: method: string = null -- only those by this planner (its name)
// parameter: task: string = null -- only tasks whose name holds this text, in small letters
// parameter: skip: integer = 0 -- rows to leave out at the beginning
// parameter: limit: integer = 20 -- rows at most
// column: decomposition -- id of the decomposition
// column: name -- its name
// column: dataset -- name of the data set
// column: task -- name of the task
// column: method -- name of the planner
// column: subtasks -- number of subtasks and groups
// column: edges -- number of dependencies
// column: format -- format that it was read from
// key: decomposition

MATCH (d:Decomposition)-[:OF_TASK]->(t:Task)
WHERE ($dataset IS NULL OR t.dataset = $dataset)
AND ($task IS NULL OR toLower(t.name) CONTAINS $task)
AND ($method IS NULL OR EXISTS { (d)-[:BY_METHOD]->(:Method {name: $method}) })
WITH d.id AS id, t.name AS title
ORDER BY title, id
SKIP $skip
LIMIT $limit
MATCH (d:Decomposition {id: id})-[:OF_TASK]->(t:Task)
OPTIONAL MATCH (d)-[:BY_METHOD]->(m:Method)
RETURN d.id AS decomposition, d.name AS name, t.dataset AS dataset, t.name AS task,
  m.name AS method, d.node_count AS subtasks, d.edge_count AS edges, d.format AS format
ORDER BY task, decomposition
