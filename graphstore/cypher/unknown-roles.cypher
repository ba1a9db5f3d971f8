// title: Agents whose role is unknown
// question: Which raw role or agent names does the table of aliases not know yet?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: limit: integer = 20 -- rows at most
// column: raw_name -- the trace's role name, else the agent's name
// column: format -- format that the runs were read from
// column: agents -- agents with it
// column: runs -- runs in which they stand
// column: actions -- actions of these agents
// key: raw_name, format

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
MATCH (r)-[:HAS_AGENT]->(g:Agent)
WHERE g.role = 'unknown'
OPTIONAL MATCH (g)-[:PERFORMED]->(a:Action)
WITH r, g, count(a) AS done
WITH coalesce(g.role_name, g.name) AS raw_name, r.format AS format, count(*) AS agents,
  count(DISTINCT r.id) AS runs, sum(done) AS actions
RETURN raw_name, format, agents, runs, actions
ORDER BY actions DESC, agents DESC, raw_name, format
LIMIT $limit
