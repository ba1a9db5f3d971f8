// title: Runs beside a forest
// question: Which runs were compared with a reference forest, and how near did they come?
// parameter: forest: string -- id of the forest
// parameter: limit: integer = 500 -- rows at most
// column: run -- id of the run
// column: method -- name of its method, missing where it names none
// column: success -- whether it succeeded
// column: score -- its score
// column: forest_match -- weighted similarity to the forest, from 0 to 1
// column: percentile -- share of the forest's own successes that match less, from 0 to 1
// column: best_similarity -- similarity to the nearest reference, from 0 to 1
// column: best_reference -- its id
// column: diagnosis -- structural, content, lucky or sound; missing where the outcome is unknown
// column: configuration_hash -- of the configuration that it was computed under
// key: run, configuration_hash

MATCH (e:Evaluation {forest: $forest})-[:OF]->(r:Run)
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
RETURN r.id AS run, m.name AS method, r.success AS success, r.score AS score,
  e.forest_match AS forest_match, e.forest_match_percentile AS percentile,
  e.best_similarity AS best_similarity, e.best_reference AS best_reference,
  e.diagnosis AS diagnosis, e.configuration_hash AS configuration_hash
ORDER BY forest_match DESC, run, configuration_hash
LIMIT $limit
