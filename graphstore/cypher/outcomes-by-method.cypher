// title: Outcome by method
// question: How often does each method succeed?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// column: method -- name of the method, missing where a run names none
// column: framework -- the software that ran it
// column: runs -- all runs
// column: succeeded -- runs that are known to have succeeded
// column: failed -- runs that are known to have failed
// column: unknown -- runs whose outcome the trace does not tell
// column: success_rate -- succeeded of those known, from 0 to 1, missing where none is known
// column: method_id -- id of the method
// key: method_id

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH m.name AS method, m.framework AS framework, m.id AS method_id, count(*) AS runs,
  sum(CASE WHEN r.success THEN 1 ELSE 0 END) AS succeeded,
  sum(CASE WHEN NOT r.success THEN 1 ELSE 0 END) AS failed,
  sum(CASE WHEN r.success IS NULL THEN 1 ELSE 0 END) AS unknown
RETURN method, framework, runs, succeeded, failed, unknown,
  CASE WHEN succeeded + failed > 0
    THEN toFloat(succeeded) / (succeeded + failed) END AS success_rate, method_id
ORDER BY success_rate IS NULL, success_rate DESC, runs DESC, method_id
