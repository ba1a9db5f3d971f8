// title: Motifs, a page at a time
// question: Which patterns does a library hold, and are they more than chance?
// parameter: library: string -- id of the library
// parameter: shape: string = null -- only patterns of this shape
// parameter: holding: string = null -- only patterns with a label that holds this text
// parameter: sort: string = "support" -- support or significance
// parameter: skip: integer = 0 -- rows to leave out at the beginning
// parameter: limit: integer = 20 -- rows at most
// column: motif -- id of the motif
// column: name -- its name
// column: shape -- its shape
// column: size -- its number of nodes
// column: scope -- what it was mined in
// column: canonical_form -- its canonical form
// column: task_support -- different tasks in which it occurs
// column: graph_support -- different runs or decompositions in which it occurs
// column: occurrences -- all occurrences
// column: expected -- occurrences to expect by chance, missing where nobody compared
// column: z_score -- deviations above that
// column: p_holm -- p-value after Holm
// column: p_benjamini_hochberg -- p-value after Benjamini and Hochberg
// key: motif

MATCH (l:Library {id: $library})-[:CONTAINS]->(x:Motif)
WHERE ($shape IS NULL OR x.shape = $shape)
AND ($holding IS NULL OR toLower(x.name) CONTAINS $holding)
WITH x, CASE WHEN $sort = 'significance' THEN x.p_holm END AS p,
  CASE WHEN $sort = 'significance' THEN x.z_score END AS z
RETURN x.id AS motif, x.name AS name, x.shape AS shape, x.size AS size, x.scope AS scope,
  x.canonical_form AS canonical_form, x.task_support AS task_support,
  x.graph_support AS graph_support, x.occurrence_count AS occurrences,
  x.expected_count AS expected, x.z_score AS z_score, x.p_holm AS p_holm,
  x.p_benjamini_hochberg AS p_benjamini_hochberg
ORDER BY p IS NULL, p, z IS NULL, z DESC, task_support DESC, graph_support DESC,
  occurrences DESC, motif
SKIP $skip
LIMIT $limit
