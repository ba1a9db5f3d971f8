// title: Tokens by role
// question: Which roles read and write the most tokens?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// column: role -- role of the action
// column: actions -- all actions of the role
// column: counted -- actions whose written tokens are known
// column: tokens_in -- tokens read, missing where none is known
// column: tokens_out -- tokens written, missing where none is known
// column: tokens_out_per_action -- tokens written for each counted action
// key: role

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
MATCH (r)-[:HAS_ACTION]->(a:Action)
WITH a.role AS role, count(*) AS actions, count(a.tokens_out) AS counted,
  sum(a.tokens_in) AS total_in, count(a.tokens_in) AS counted_in, sum(a.tokens_out) AS total_out
RETURN role, actions, counted, CASE WHEN counted_in > 0 THEN total_in END AS tokens_in,
  CASE WHEN counted > 0 THEN total_out END AS tokens_out,
  CASE WHEN counted > 0 THEN toFloat(total_out) / counted END AS tokens_out_per_action
ORDER BY tokens_out IS NULL, tokens_out DESC, role
