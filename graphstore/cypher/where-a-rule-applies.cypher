// title: Where a composition rule applies
// question: Which runs and decompositions join two patterns so, and at which nodes?
// parameter: rule: string -- id of the rule
// parameter: limit: integer = 20 -- rows at most
// column: graph -- id of the run or decomposition
// column: task -- name of the task
// column: method -- name of the method
// column: overlaps -- how many pairs of occurrences
// column: nodes -- JSON: for each set of shared nodes their indexes, each set once and at most 20 sets, so that there can be fewer than overlaps
// column: rule -- id of the rule
// key: rule, graph

MATCH (x:CompositionRule {id: $rule})-[o:APPLIES_IN]->(n)
OPTIONAL MATCH (n)-[:OF_TASK]->(t:Task)
OPTIONAL MATCH (n)-[:BY_METHOD]->(m:Method)
RETURN n.id AS graph, t.name AS task, m.name AS method, o.count AS overlaps,
  o.nodes AS nodes, x.id AS rule
ORDER BY overlaps DESC, rule, graph
LIMIT $limit
