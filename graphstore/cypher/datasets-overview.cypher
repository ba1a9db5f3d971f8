// title: What is in the store
// question: How many tasks, runs and decompositions does each data set have?
// column: dataset -- name of the data set, missing where a task names none
// column: tasks -- its tasks
// column: runs -- runs of them
// column: actions -- actions of these runs
// column: decompositions -- decompositions of them
// column: subtasks -- subtasks and groups of these
// key: dataset

MATCH (t:Task)
OPTIONAL MATCH (r:Run)-[:OF_TASK]->(t)
WITH t, count(r) AS runs, sum(r.node_count) AS actions
OPTIONAL MATCH (d:Decomposition)-[:OF_TASK]->(t)
WITH t, runs, actions, count(d) AS decompositions, sum(d.node_count) AS subtasks
WITH t.dataset AS dataset, count(*) AS tasks, sum(runs) AS runs, sum(actions) AS actions,
  sum(decompositions) AS decompositions, sum(subtasks) AS subtasks
RETURN dataset, tasks, runs, actions, decompositions, subtasks
ORDER BY dataset
