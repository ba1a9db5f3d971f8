// title: A decomposition, subtask by subtask
// question: How was a task split?
// parameter: decomposition: string -- id of the decomposition
// column: index -- position of the subtask or group, from 0
// column: kind -- subtask or group
// column: subtask -- its title
// column: role -- its role
// column: agent -- name of the agent that it is assigned to
// column: parent_index -- position of the group that holds it
// column: sources -- positions of the subtasks that it depends on
// column: reads -- names of the resources that it reads
// column: writes -- names of the resources that it changes
// key: index

MATCH (:Decomposition {id: $decomposition})-[:HAS_SUBTASK]->(n:Subtask)
OPTIONAL MATCH (g:Agent)-[:PERFORMED]->(n)
OPTIONAL MATCH (p:Subtask)-[:PARENT_OF]->(n)
OPTIONAL MATCH (s:Subtask)-[:PRECEDES]->(n)
WITH n, g, p, s
ORDER BY n.index, s.index
WITH n, g, p, collect(s.index) AS sources
OPTIONAL MATCH (n)-[:READS]->(x:Resource)
WITH n, g, p, sources, x
ORDER BY n.index, x.position
WITH n, g, p, sources, collect(x.name) AS reads
OPTIONAL MATCH (n)-[:WRITES]->(x:Resource)
WITH n, g, p, sources, reads, x
ORDER BY n.index, x.position
WITH n, g, p, sources, reads, collect(x.name) AS writes
RETURN n.index AS index, n.kind AS kind, n.name AS subtask, n.role AS role, g.name AS agent,
  p.index AS parent_index, sources, reads, writes
ORDER BY index
