// title: Composition rules by support
// question: Which ways to join two patterns recur in the most tasks?
// parameter: motif: string = null -- only rules that join this motif (its id or name)
// parameter: library: string = null -- only this library (its name or id)
// parameter: scope: string = null -- only rules of this scope: run or decomposition
// parameter: limit: integer = 20 -- rows at most
// column: name -- the rule in words
// column: scope -- what it was mined in: run or decomposition
// column: size -- number of nodes of both patterns together
// column: alignment -- JSON: position in the first and in the second pattern, for each shared node
// column: task_support -- different tasks in which it applies
// column: graph_support -- different runs or decompositions
// column: overlaps -- all pairs of occurrences that overlap so
// column: first -- id of the first motif
// column: second -- id of the second motif
// column: rule -- id of the rule
// column: library -- id of the library
// key: rule, library

MATCH (l:Library)-[:CONTAINS]->(r:CompositionRule)
WHERE ($library IS NULL OR l.name = $library OR l.id = $library)
AND ($scope IS NULL OR r.scope = $scope)
MATCH (r)-[i:JOINS]->(x:Motif)
WHERE 'first' IN i.places
MATCH (r)-[j:JOINS]->(y:Motif)
WHERE 'second' IN j.places AND ($motif IS NULL OR x.id = $motif OR x.name = $motif
  OR y.id = $motif OR y.name = $motif)
RETURN r.name AS name, r.scope AS scope, r.size AS size, r.alignment AS alignment,
  r.task_support AS task_support, r.graph_support AS graph_support,
  r.overlap_count AS overlaps, x.id AS first, y.id AS second, r.id AS rule, l.id AS library
ORDER BY task_support DESC, graph_support DESC, overlaps DESC, rule, library
LIMIT $limit
