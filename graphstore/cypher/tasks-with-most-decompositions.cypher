// title: Tasks with the most decompositions
// question: Which tasks were split in the most ways, and how differently?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: limit: integer = 20 -- rows at most
// column: task -- name of the task
// column: dataset -- its data set
// column: decompositions -- its decompositions
// column: planners -- different methods that made them
// column: fewest_subtasks -- subtasks and groups of the smallest
// column: most_subtasks -- subtasks and groups of the largest
// column: task_id -- id of the task
// key: task_id

MATCH (d:Decomposition)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (d)-[:BY_METHOD]->(m:Method)
WITH t, count(d) AS decompositions, count(DISTINCT m.id) AS planners,
  min(d.node_count) AS fewest_subtasks, max(d.node_count) AS most_subtasks
RETURN t.name AS task, t.dataset AS dataset, decompositions, planners, fewest_subtasks,
  most_subtasks, t.id AS task_id
ORDER BY decompositions DESC, planners DESC, task_id
LIMIT $limit
