// title: Reference forests
// question: Which reference forests were built, from how many successes, and do they hold different ways?
// parameter: forest_set: string = null -- only forests of this set (its id)
// parameter: level: string = null -- only forests of this level: task, category, dataset, method, all or decomposition
// parameter: forest: string = null -- only this forest (its id)
// parameter: limit: integer = 100 -- rows at most
// column: forest -- id of the forest
// column: level -- what it pools
// column: name -- of the task, category, data set or method
// column: references -- graphs that it keeps
// column: successes -- successful graphs, copies counted
// column: distinct_successes -- of different structure or content
// column: threshold -- forest matches from here on are high; missing with too few successes
// column: median_similarity -- of two successes
// column: near_copies -- whether all successes are alike
// column: forest_set -- id of the set that it was built in
// column: imported -- whether it came from a file, with its graphs, which are no runs of the store
// column: configuration_hash -- hash of the configuration
// key: forest

MATCH (f:ReferenceForest)
WHERE ($forest_set IS NULL OR f.forest_set = $forest_set)
AND ($level IS NULL OR f.level = $level)
AND ($forest IS NULL OR f.id = $forest)
RETURN f.id AS forest, f.level AS level, f.name AS name, f.references AS references,
  f.successes AS successes, f.distinct_successes AS distinct_successes,
  f.threshold AS threshold, f.median_similarity AS median_similarity,
  f.near_copies AS near_copies, f.forest_set AS forest_set, f.imported AS imported,
  f.configuration_hash AS configuration_hash
ORDER BY level, name, forest
LIMIT $limit
