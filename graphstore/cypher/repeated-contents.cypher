// title: Contents that recur in a run
// question: Where does a team go round in circles?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: run: string = null -- only this run (its id)
// parameter: times: integer = 2 -- how often a content must recur
// parameter: limit: integer = 20 -- rows at most
// parameter: characters: integer = 80 -- length at which a content is cut
// column: run -- id of the run
// column: times -- actions of the run with this content
// column: roles -- different roles that said it
// column: first_index -- position of the first
// column: last_index -- position of the last
// column: text -- the beginning of the content
// column: content_hash -- hash of the normalized content
// key: run, content_hash

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
AND ($run IS NULL OR r.id = $run)
MATCH (r)-[:HAS_ACTION]->(a:Action)
WHERE a.content_hash IS NOT NULL
WITH a.graph AS run, a.content_hash AS content_hash, count(*) AS times,
  count(DISTINCT a.role) AS roles, min(a.index) AS first_index, max(a.index) AS last_index
WHERE times >= $times
WITH run, content_hash, times, roles, first_index, last_index
ORDER BY times DESC, run, content_hash
LIMIT $limit
MATCH (:Run {id: run})-[:HAS_ACTION]->(f:Action)
WHERE f.index = first_index
RETURN run, times, roles, first_index, last_index,
  substring(f.content, 0, $characters) AS text, content_hash
ORDER BY times DESC, run, content_hash
