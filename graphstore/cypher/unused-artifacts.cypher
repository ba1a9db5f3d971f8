// title: Artifacts that are made and never needed
// question: Which outputs of subtasks does no other subtask require?
// parameter: decomposition: string = null -- only this decomposition (its id)
// parameter: limit: integer = 20 -- rows at most
// column: decomposition -- id of the decomposition
// column: artifact -- name of the artifact
// column: index -- position of the subtask that makes it
// column: subtask -- title of that subtask
// column: is_final -- whether no subtask depends on that one, so that the artifact may be the result
// column: artifact_id -- id of the artifact
// key: decomposition, index, artifact_id

MATCH (s:Subtask)-[:PRODUCES]->(x:Artifact)
WHERE ($decomposition IS NULL OR s.graph = $decomposition)
AND NOT EXISTS { (:Subtask)-[:REQUIRES]->(x) }
WITH s, x, NOT EXISTS { (s)-[:PRECEDES]->(:Subtask) } AS is_final
RETURN s.graph AS decomposition, x.name AS artifact, s.index AS index, s.name AS subtask,
  is_final, x.id AS artifact_id
ORDER BY is_final, decomposition, index, artifact_id
LIMIT $limit
