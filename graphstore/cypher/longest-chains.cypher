// title: Runs with the longest chains of consumption
// question: In which runs does work pass through the most steps, each consuming the one before?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: limit: integer = 20 -- rows at most
// column: run -- id of the run
// column: task -- name of the task
// column: method -- name of the method
// column: actions -- number of actions
// column: longest_chain -- actions on the longest chain of consumption
// column: share -- of the run's actions that lie on it
// key: run

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
MATCH (r)-[:HAS_ACTION]->(a:Action)
WITH a.graph AS run, a.index AS position, [(a)<-[:INFORMS]-(s:Action) | s.index] AS sources
ORDER BY position
WITH run, collect(sources) AS graph
WITH run, size(graph) AS actions, reduce(found = [], sources IN graph | found + [
  1 + reduce(most = 0, s IN sources | CASE WHEN found[s] > most THEN found[s] ELSE most END)]) AS depths
WITH run, actions,
  reduce(most = 0, d IN depths | CASE WHEN d > most THEN d ELSE most END) AS longest_chain
ORDER BY longest_chain DESC, run
LIMIT $limit
MATCH (r:Run {id: run})-[:OF_TASK]->(t:Task)
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
RETURN run, t.name AS task, m.name AS method, actions, longest_chain,
  toFloat(longest_chain) / actions AS share
ORDER BY longest_chain DESC, run
