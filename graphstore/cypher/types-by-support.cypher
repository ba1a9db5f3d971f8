// title: Subtask types by support
// question: Which kinds of subtasks recur in the most tasks, and what do they need and make?
// parameter: library: string = null -- only this library (its name or id)
// parameter: scope: string = null -- only types of this scope: run or decomposition
// parameter: limit: integer = 20 -- rows at most
// column: name -- name of the type
// column: scope -- what it was mined in: run or decomposition
// column: medoid -- name of the subtask that stands for it, missing where nothing was learned
// column: task_support -- different tasks that have it
// column: members -- number of its subtasks
// column: inputs -- types of what they need
// column: outputs -- types of what they make
// column: reads -- types of the resources that they read
// column: writes -- types of the resources that they change
// column: subtask_type -- id of the type
// column: library -- id of the library
// key: subtask_type, library

MATCH (l:Library)-[:CONTAINS]->(x:SubtaskType)
WHERE ($library IS NULL OR l.name = $library OR l.id = $library)
AND ($scope IS NULL OR x.scope = $scope)
RETURN x.name AS name, x.scope AS scope, x.medoid_name AS medoid, x.task_support AS task_support,
  x.members AS members, x.inputs AS inputs, x.outputs AS outputs, x.reads AS reads,
  x.writes AS writes, x.id AS subtask_type, l.id AS library
ORDER BY task_support DESC, members DESC, name, subtask_type, library
LIMIT $limit
