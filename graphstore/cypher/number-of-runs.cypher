// title: Number of runs
// question: How many runs fit a filter, and how did they end?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: task: string = null -- only tasks whose name holds this text, in small letters
// column: outcome -- succeeded, failed or unknown
// column: runs -- runs that ended so
// key: outcome

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE ($dataset IS NULL OR t.dataset = $dataset)
AND ($task IS NULL OR toLower(t.name) CONTAINS $task)
AND ($method IS NULL OR EXISTS { (r)-[:BY_METHOD]->(:Method {name: $method}) })
WITH CASE WHEN r.success IS NULL THEN 'unknown' WHEN r.success THEN 'succeeded'
  ELSE 'failed' END AS outcome, count(*) AS runs
RETURN outcome, runs
ORDER BY outcome
