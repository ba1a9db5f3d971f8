// title: The runs of a task
// question: Which runs worked on a task, and how did each end?
// parameter: task: string -- name or id of the task
// column: run -- id of the run
// column: method -- name of the method
// column: success -- whether it succeeded
// column: score -- its score
// column: actions -- number of actions
// column: agents -- number of agents
// column: edges -- number of consumptions
// column: tokens_in -- total of tokens read that the trace reports
// column: tokens_out -- total of tokens written that the trace reports
// column: termination -- why it stopped, in the trace's words
// column: task_id -- id of the task: two data sets may use one name
// key: run

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE t.name = $task OR t.id = $task
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
RETURN r.id AS run, m.name AS method, r.success AS success, r.score AS score,
  r.node_count AS actions, r.agent_count AS agents, r.edge_count AS edges,
  r.tokens_in AS tokens_in, r.tokens_out AS tokens_out, r.termination AS termination,
  t.id AS task_id
ORDER BY task_id, run
