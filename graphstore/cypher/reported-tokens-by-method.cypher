// title: Reported tokens by method
// question: How many tokens do the runs of each method say that they read and wrote?
// column: method -- name of the method, missing where a run names none
// column: runs -- all runs
// column: counted -- runs whose trace gives a total of written tokens
// column: tokens_in -- totals of tokens read, missing where no run gives one
// column: tokens_out -- totals of tokens written, likewise
// column: method_id -- id of the method
// key: method_id

MATCH (r:Run)
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH m.name AS method, m.id AS method_id, count(*) AS runs, count(r.tokens_out) AS counted,
  sum(r.tokens_out) AS written, count(r.tokens_in) AS counted_in, sum(r.tokens_in) AS read
RETURN method, runs, counted, CASE WHEN counted_in > 0 THEN read END AS tokens_in,
  CASE WHEN counted > 0 THEN written END AS tokens_out, method_id
ORDER BY tokens_out IS NULL, tokens_out DESC, runs DESC, method_id
