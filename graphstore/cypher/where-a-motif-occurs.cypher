// title: Where a motif occurs
// question: Which runs and decompositions contain a pattern, and on which nodes?
// parameter: motif: string -- id or name of the motif
// parameter: limit: integer = 20 -- rows at most
// column: graph -- id of the run or decomposition
// column: task -- name of the task
// column: method -- name of the method
// column: occurrences -- how often it occurs there
// column: nodes -- JSON: the node indexes of each occurrence
// column: motif -- id of the motif
// key: motif, graph

MATCH (x:Motif)
WHERE x.id = $motif OR x.name = $motif
MATCH (x)-[o:OCCURS_IN]->(n)
OPTIONAL MATCH (n)-[:OF_TASK]->(t:Task)
OPTIONAL MATCH (n)-[:BY_METHOD]->(m:Method)
RETURN n.id AS graph, t.name AS task, m.name AS method, o.count AS occurrences,
  o.nodes AS nodes, x.id AS motif
ORDER BY occurrences DESC, motif, graph
LIMIT $limit
