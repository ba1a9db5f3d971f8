// title: The size of a run or decomposition
// question: How many nodes does a run or decomposition have?
// parameter: graph: string -- id of the run or decomposition
// column: graph -- its id
// column: nodes -- its actions, or its subtasks and groups
// column: agents -- its agents
// column: edges -- its consumptions or dependencies
// key: graph

OPTIONAL MATCH (r:Run {id: $graph})
OPTIONAL MATCH (d:Decomposition {id: $graph})
WITH coalesce(r.id, d.id) AS graph, coalesce(r.node_count, d.node_count) AS nodes,
  coalesce(r.agent_count, d.agent_count) AS agents,
  coalesce(r.edge_count, d.edge_count) AS edges
WHERE graph IS NOT NULL
RETURN graph, nodes, agents, edges
ORDER BY graph
