// title: Evaluations, a page at a time
// question: What was measured of each run?
// parameter: configuration_hash: string = null -- only under this configuration
// parameter: skip: integer = 0 -- rows to leave out at the beginning
// parameter: limit: integer = 100 -- rows at most
// column: evaluation -- id of the evaluation
// column: run -- id of the run
// column: configuration_hash -- hash of the panel's configuration
// column: density -- the panel's density
// column: reachable_pair_fraction -- the panel's reachable pair fraction
// column: average_path_length -- the panel's average path length
// column: normalized_source_entropy -- the panel's normalized source entropy
// column: permitted_density -- the panel's permitted density
// column: permitted_reachable_pair_fraction -- the panel's permitted reachable pair fraction
// column: permitted_average_path_length -- the panel's permitted average path length
// column: permitted_links_used -- the panel's permitted links used
// column: unpermitted_links -- the panel's unpermitted links
// column: node_validity -- the panel's node validity
// column: content_redundancy -- the panel's content redundancy
// column: actions -- the panel's actions
// column: agents -- the panel's agents
// column: active_agents -- the panel's active agents
// column: vertices -- the panel's vertices
// column: links -- the panel's links
// column: messages -- the panel's messages
// column: edges -- the panel's edges
// column: inferred_edges -- the panel's inferred edges
// column: share_of_inferred_edges -- the panel's share of inferred edges
// column: known_contents -- the panel's known contents
// column: tokens_in -- the panel's tokens in
// column: tokens_out -- the panel's tokens out
// key: evaluation

MATCH (e:Evaluation)-[:OF]->(r:Run)
WHERE $configuration_hash IS NULL OR e.configuration_hash = $configuration_hash
RETURN e.id AS evaluation, r.id AS run, e.configuration_hash AS configuration_hash, e.density
  AS density, e.reachable_pair_fraction AS reachable_pair_fraction, e.average_path_length AS
  average_path_length, e.normalized_source_entropy AS normalized_source_entropy,
  e.permitted_density AS permitted_density, e.permitted_reachable_pair_fraction AS
  permitted_reachable_pair_fraction, e.permitted_average_path_length AS
  permitted_average_path_length, e.permitted_links_used AS permitted_links_used,
  e.unpermitted_links AS unpermitted_links, e.node_validity AS node_validity,
  e.content_redundancy AS content_redundancy, e.actions AS actions, e.agents AS agents,
  e.active_agents AS active_agents, e.vertices AS vertices, e.links AS links, e.messages AS
  messages, e.edges AS edges, e.inferred_edges AS inferred_edges, e.share_of_inferred_edges AS
  share_of_inferred_edges, e.known_contents AS known_contents, e.tokens_in AS tokens_in,
  e.tokens_out AS tokens_out
ORDER BY configuration_hash, run, evaluation
SKIP $skip
LIMIT $limit
