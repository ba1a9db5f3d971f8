// title: Subtasks by depth
// question: How deep are decompositions, and how wide is each level?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: decomposition: string = null -- only this decomposition (its id)
// column: depth -- subtasks on the longest line of dependencies that ends in a subtask: 1 where it depends on none
// column: subtasks -- subtasks of that depth, groups left out
// column: decompositions -- decompositions that are that deep
// column: widest -- the most subtasks of that depth in one decomposition
// key: depth

MATCH (d:Decomposition)-[:OF_TASK]->(t:Task)
WHERE ($dataset IS NULL OR t.dataset = $dataset)
AND ($decomposition IS NULL OR d.id = $decomposition)
MATCH (d)-[:HAS_SUBTASK]->(n:Subtask)
WITH d.id AS graph_id, n.index AS position, n.kind AS kind,
  [(n)<-[:PRECEDES]-(s:Subtask) | s.index] AS sources
ORDER BY position
WITH graph_id, collect(sources) AS graph, collect(kind) AS kinds
WITH graph_id, kinds, reduce(found = [], sources IN graph | found + [
  1 + reduce(most = 0, s IN sources | CASE WHEN found[s] > most THEN found[s] ELSE most END)]) AS depths
UNWIND [i IN range(0, size(kinds) - 1) WHERE kinds[i] = 'subtask' | depths[i]] AS depth
WITH graph_id, depth, count(*) AS width
WITH depth, sum(width) AS subtasks, count(*) AS decompositions, max(width) AS widest
RETURN depth, subtasks, decompositions, widest
ORDER BY depth
