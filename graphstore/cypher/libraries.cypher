// title: Libraries
// question: Which libraries were mined, and how much do they hold?
// column: library -- id of the library
// column: name -- its name
// column: kind -- library, or motifs where nothing else was mined
// column: types -- number of subtask types
// column: motifs -- number of motifs
// column: rules -- number of composition rules
// column: coarse_graphs -- number of coarse graphs, of tasks and of groups
// column: configuration_hash -- hash of the configuration
// key: library

MATCH (l:Library)
OPTIONAL MATCH (l)-[:CONTAINS]->(t:SubtaskType)
WITH l, count(t) AS types
OPTIONAL MATCH (l)-[:CONTAINS]->(m:Motif)
WITH l, types, count(m) AS motifs
OPTIONAL MATCH (l)-[:CONTAINS]->(r:CompositionRule)
WITH l, types, motifs, count(r) AS rules
OPTIONAL MATCH (l)-[:CONTAINS]->(c:CoarseGraph)
WITH l, types, motifs, rules, count(c) AS coarse_graphs
RETURN l.id AS library, l.name AS name, l.kind AS kind, types, motifs, rules, coarse_graphs,
  l.configuration_hash AS configuration_hash
ORDER BY library
