// title: How often each tool fails
// question: Which tools are called, and how often do they fail?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: limit: integer = 20 -- rows at most
// column: tool -- short label of the call
// column: calls -- all calls
// column: failed -- calls that are known to have failed
// column: succeeded -- calls that are known to have succeeded
// column: unknown -- calls of which the trace does not tell
// column: failure_rate -- failed of those known, from 0 to 1, missing where none is known
// column: runs -- runs that call it
// key: tool

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
MATCH (r)-[:HAS_ACTION]->(a:Action)
WHERE a.kind = 'tool_call'
WITH a.name AS tool, count(*) AS calls,
  sum(CASE WHEN a.status = 'error' THEN 1 ELSE 0 END) AS failed,
  sum(CASE WHEN a.status = 'ok' THEN 1 ELSE 0 END) AS succeeded, count(DISTINCT r.id) AS runs
RETURN tool, calls, failed, succeeded, calls - failed - succeeded AS unknown,
  CASE WHEN failed + succeeded > 0
    THEN toFloat(failed) / (failed + succeeded) END AS failure_rate, runs
ORDER BY calls DESC, tool
LIMIT $limit
