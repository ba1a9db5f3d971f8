// title: Formats that were read
// question: How much came in by each format, and how much of its edges is a guess?
// column: format -- format that the graphs were read from
// column: runs -- runs
// column: decompositions -- decompositions
// column: nodes -- actions, subtasks and groups
// column: agents -- agents of these graphs
// column: edges -- all consumptions and dependencies
// column: inferred_edges -- those that the reader guessed
// column: share -- guessed of all, from 0 to 1; missing without edges
// key: format

MATCH (g)-[:OF_TASK]->(:Task)
WITH g.format AS format,
  sum(CASE WHEN g:Run THEN 1 ELSE 0 END) AS runs,
  sum(CASE WHEN g:Decomposition THEN 1 ELSE 0 END) AS decompositions,
  sum(g.node_count) AS nodes, sum(g.agent_count) AS agents, sum(g.edge_count) AS edges,
  sum(g.inferred_edge_count) AS inferred_edges
RETURN format, runs, decompositions, nodes, agents, edges, inferred_edges,
  CASE WHEN edges > 0 THEN toFloat(inferred_edges) / edges END AS share
ORDER BY format
