// title: Runs by diagnosis
// question: Which runs failed by their structure, which by their content, and which succeeded unlike the others?
// parameter: diagnosis: string = null -- only this one: structural, content, lucky or sound
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: limit: integer = 100 -- rows at most
// column: diagnosis -- structural: failed, low match; content: failed, high; lucky: succeeded, low; sound: succeeded, high
// column: run -- id of the run
// column: task -- name of its task
// column: method -- name of its method, missing where it names none
// column: forest_match -- weighted similarity to the forest, from 0 to 1
// column: percentile -- share of the forest's own successes that match less, from 0 to 1
// column: threshold -- matches from here on are high
// column: forest_level -- what the forest pools
// column: best_similarity -- similarity to the nearest reference, from 0 to 1
// column: best_reference -- its id
// column: configuration_hash -- of the configuration that it was computed under
// key: run, configuration_hash

MATCH (e:Evaluation)-[:OF]->(r:Run)-[:OF_TASK]->(t:Task)
WHERE e.diagnosis IS NOT NULL AND ($diagnosis IS NULL OR e.diagnosis = $diagnosis)
AND ($dataset IS NULL OR t.dataset = $dataset)
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH e, r, t, m
WHERE $method IS NULL OR m.name = $method
RETURN e.diagnosis AS diagnosis, r.id AS run, t.name AS task, m.name AS method,
  e.forest_match AS forest_match, e.forest_match_percentile AS percentile,
  e.forest_threshold AS threshold, e.forest_level AS forest_level,
  e.best_similarity AS best_similarity, e.best_reference AS best_reference,
  e.configuration_hash AS configuration_hash
ORDER BY forest_match, run, configuration_hash
LIMIT $limit
