// title: Couplings across groups
// question: Which subtasks of different groups change the same resource?
// parameter: decomposition: string = null -- only this decomposition (its id)
// parameter: limit: integer = 20 -- rows at most
// column: decomposition -- id of the decomposition
// column: index -- position of the one subtask
// column: subtask -- its title
// column: group -- title of its group, missing where it is in none
// column: other_index -- position of the other subtask
// column: other_subtask -- its title
// column: other_group -- title of its group, missing where it is in none
// column: resources -- names of the shared resources
// column: basis -- explicit or inferred
// key: decomposition, index, other_index

MATCH (a:Subtask)-[c:COUPLED_WITH]->(b:Subtask)
WHERE $decomposition IS NULL OR a.graph = $decomposition
OPTIONAL MATCH (p:Subtask)-[:PARENT_OF]->(a)
OPTIONAL MATCH (q:Subtask)-[:PARENT_OF]->(b)
WITH a, b, c, p, q
WHERE coalesce(p.id, '') <> coalesce(q.id, '')
WITH a, b, c, p, q
ORDER BY a.graph, a.index, b.index
LIMIT $limit
OPTIONAL MATCH (:Decomposition {id: a.graph})-[:HAS_RESOURCE]->(x:Resource)
WHERE x.id IN c.resources
WITH a, b, c, p, q, x
ORDER BY a.graph, a.index, b.index, x.position
WITH a, b, c, p, q, collect(x.name) AS resources
RETURN a.graph AS decomposition, a.index AS index, a.name AS subtask, p.name AS group,
  b.index AS other_index, b.name AS other_subtask, q.name AS other_group, resources,
  c.basis AS basis
ORDER BY decomposition, index, other_index
