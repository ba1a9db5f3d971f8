// title: Runs, a page at a time
// question: Which runs are there, and how did each end?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: task: string = null -- only tasks whose name holds this text, in small letters
// parameter: outcome: string = null -- only runs with this outcome: succeeded, failed or unknown
// parameter: skip: integer = 0 -- rows to leave out at the beginning
// parameter: limit: integer = 20 -- rows at most
// column: run -- id of the run
// column: name -- its name
// column: dataset -- name of the data set
// column: task -- name of the task
// column: method -- name of the method
// column: outcome -- succeeded, failed or unknown
// column: score -- its score
// column: actions -- number of actions
// column: agents -- number of agents
// column: edges -- number of consumptions
// column: inferred_edges -- those that the reader guessed
// column: tokens_out -- total of tokens written that the trace reports
// column: format -- format that it was read from
// key: run

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE ($dataset IS NULL OR t.dataset = $dataset)
AND ($task IS NULL OR toLower(t.name) CONTAINS $task)
AND ($outcome IS NULL OR $outcome = CASE WHEN r.success IS NULL THEN 'unknown'
  WHEN r.success THEN 'succeeded' ELSE 'failed' END)
AND ($method IS NULL OR EXISTS { (r)-[:BY_METHOD]->(:Method {name: $method}) })
WITH r.id AS id
ORDER BY id
SKIP $skip
LIMIT $limit
MATCH (r:Run {id: id})-[:OF_TASK]->(t:Task)
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
RETURN r.id AS run, r.name AS name, t.dataset AS dataset, t.name AS task, m.name AS method,
  CASE WHEN r.success IS NULL THEN 'unknown' WHEN r.success THEN 'succeeded'
    ELSE 'failed' END AS outcome, r.score AS score, r.node_count AS actions,
  r.agent_count AS agents, r.edge_count AS edges, r.inferred_edge_count AS inferred_edges,
  r.tokens_out AS tokens_out, r.format AS format
ORDER BY run
