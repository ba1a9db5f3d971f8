// title: Rounds until the end
// question: How many rounds does each method take, and does a longer run succeed?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// column: method -- name of the method, missing where a run names none
// column: outcome -- succeeded, failed or unknown
// column: runs -- runs with that outcome whose rounds are counted
// column: fewest_rounds -- rounds of the shortest run
// column: mean_rounds -- rounds of a run on average
// column: most_rounds -- rounds of the longest run
// column: mean_actions -- actions of a run on average
// column: method_id -- id of the method
// key: method_id, outcome

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
MATCH (r)-[:HAS_ACTION]->(a:Action)
WITH r, max(a.round) + 1 AS rounds
WHERE rounds IS NOT NULL
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH m.name AS method, m.id AS method_id,
  CASE WHEN r.success THEN 'succeeded' WHEN r.success IS NULL THEN 'unknown' ELSE 'failed' END
    AS outcome,
  count(*) AS runs, min(rounds) AS fewest_rounds, sum(rounds) AS all_rounds,
  max(rounds) AS most_rounds, sum(r.node_count) AS all_actions
RETURN method, outcome, runs, fewest_rounds, toFloat(all_rounds) / runs AS mean_rounds,
  most_rounds, toFloat(all_actions) / runs AS mean_actions, method_id
ORDER BY method_id, outcome
