// title: One motif
// question: What is a pattern, and in which library does it stand?
// parameter: motif: string -- id of the motif
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
// column: library -- id of the library
// key: library

MATCH (l:Library)-[:CONTAINS]->(x:Motif {id: $motif})
RETURN x.id AS motif, x.name AS name, x.shape AS shape, x.size AS size, x.scope AS scope,
  x.canonical_form AS canonical_form, x.task_support AS task_support,
  x.graph_support AS graph_support, x.occurrence_count AS occurrences,
  x.expected_count AS expected, x.z_score AS z_score, x.p_holm AS p_holm,
  x.p_benjamini_hochberg AS p_benjamini_hochberg, l.id AS library
ORDER BY library
