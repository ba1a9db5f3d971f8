// title: Motifs by support
// question: Which patterns recur in the most tasks?
// parameter: library: string = null -- only this library (its name or id)
// parameter: scope: string = null -- only motifs of this scope: run or decomposition
// parameter: limit: integer = 20 -- rows at most
// column: motif -- id of the motif
// column: name -- its name
// column: size -- its number of nodes
// column: scope -- what it was mined in
// column: canonical_form -- its canonical form
// column: task_support -- different tasks in which it occurs
// column: graph_support -- different runs or decompositions in which it occurs
// column: occurrences -- all occurrences
// column: library -- id of the library
// key: motif, library

MATCH (l:Library)-[:CONTAINS]->(x:Motif)
WHERE ($library IS NULL OR l.name = $library OR l.id = $library)
AND ($scope IS NULL OR x.scope = $scope)
RETURN x.id AS motif, x.name AS name, x.size AS size, x.scope AS scope,
  x.canonical_form AS canonical_form, x.task_support AS task_support,
  x.graph_support AS graph_support, x.occurrence_count AS occurrences, l.id AS library
ORDER BY task_support DESC, graph_support DESC, occurrences DESC, motif, library
LIMIT $limit
