// title: The tasks of a motif
// question: In which tasks does a pattern occur, and how often?
// parameter: motif: string -- id of the motif
// parameter: limit: integer = 20 -- rows at most
// column: task -- name of the task
// column: dataset -- its data set
// column: graphs -- its runs or decompositions in which the pattern occurs
// column: occurrences -- occurrences in them
// column: task_id -- id of the task
// key: task_id

MATCH (:Motif {id: $motif})-[o:OCCURS_IN]->(n)-[:OF_TASK]->(t:Task)
WITH t.name AS task, t.dataset AS dataset, t.id AS task_id, count(*) AS graphs,
  sum(o.count) AS occurrences
RETURN task, dataset, graphs, occurrences, task_id
ORDER BY occurrences DESC, task_id
LIMIT $limit
