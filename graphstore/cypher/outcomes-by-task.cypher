// title: The hardest tasks
// question: Which tasks fail most often?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: limit: integer = 20 -- rows at most
// column: task -- name of the task
// column: dataset -- its data set
// column: runs -- all runs
// column: succeeded -- runs that are known to have succeeded
// column: failed -- runs that are known to have failed
// column: unknown -- runs whose outcome the trace does not tell
// column: success_rate -- succeeded of those known, from 0 to 1, missing where none is known
// column: task_id -- id of the task
// key: task_id

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
WITH t.name AS task, t.dataset AS dataset, t.id AS task_id, count(*) AS runs,
  sum(CASE WHEN r.success THEN 1 ELSE 0 END) AS succeeded,
  sum(CASE WHEN NOT r.success THEN 1 ELSE 0 END) AS failed,
  sum(CASE WHEN r.success IS NULL THEN 1 ELSE 0 END) AS unknown
RETURN task, dataset, runs, succeeded, failed, unknown,
  CASE WHEN succeeded + failed > 0
    THEN toFloat(succeeded) / (succeeded + failed) END AS success_rate, task_id
ORDER BY success_rate IS NULL, success_rate, runs DESC, task_id
LIMIT $limit
