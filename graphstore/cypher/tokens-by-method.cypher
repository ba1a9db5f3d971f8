// title: Tokens by method
// question: Which methods read and write the most tokens, and how many for a run?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// column: method -- name of the method, missing where a run names none
// column: framework -- the software that ran it
// column: runs -- runs with an action
// column: actions -- all actions
// column: counted -- actions whose written tokens are known
// column: tokens_in -- tokens read, missing where none is known
// column: tokens_out -- tokens written, missing where none is known
// column: counted_runs -- runs with a counted action
// column: tokens_out_per_run -- tokens written for each counted run
// column: method_id -- id of the method
// key: method_id

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
MATCH (r)-[:HAS_ACTION]->(a:Action)
WITH r, count(a) AS actions, count(a.tokens_out) AS counted, sum(a.tokens_in) AS total_in,
  count(a.tokens_in) AS counted_in, sum(a.tokens_out) AS total_out
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH m.name AS method, m.framework AS framework, m.id AS method_id, count(*) AS runs,
  sum(actions) AS actions, sum(counted) AS counted, sum(total_in) AS total_in,
  sum(counted_in) AS counted_in, sum(total_out) AS total_out,
  sum(CASE WHEN counted > 0 THEN 1 ELSE 0 END) AS counted_runs
RETURN method, framework, runs, actions, counted,
  CASE WHEN counted_in > 0 THEN total_in END AS tokens_in,
  CASE WHEN counted > 0 THEN total_out END AS tokens_out, counted_runs,
  CASE WHEN counted > 0 THEN toFloat(total_out) / counted_runs END AS tokens_out_per_run,
  method_id
ORDER BY tokens_out_per_run IS NULL, tokens_out_per_run DESC, method_id
