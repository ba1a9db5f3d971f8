// title: The most shared resources
// question: Which files, records or tables do the most subtasks or actions touch?
// parameter: graph: string = null -- only this run or decomposition (its id)
// parameter: limit: integer = 20 -- rows at most
// column: graph -- id of the run or decomposition
// column: resource -- name of the resource
// column: kind -- its type, where the trace tells
// column: users -- subtasks or actions that read or change it
// column: readers -- those that read it
// column: writers -- those that change it
// column: resource_id -- id of the resource
// key: resource_id

MATCH (x:Resource)<-[u:READS|WRITES]-(n)
WHERE $graph IS NULL OR n.graph = $graph
WITH n.graph AS graph, x, count(DISTINCT n.id) AS users,
  sum(CASE WHEN type(u) = 'READS' THEN 1 ELSE 0 END) AS readers,
  sum(CASE WHEN type(u) = 'WRITES' THEN 1 ELSE 0 END) AS writers
RETURN graph, x.name AS resource, x.resource_type AS kind, users, readers, writers, x.id AS resource_id
ORDER BY users DESC, writers DESC, resource_id
LIMIT $limit
