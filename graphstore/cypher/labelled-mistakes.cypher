// title: Mistakes that somebody labelled
// question: Which agent made the mistake that decided a failed run, how late, and was it the busiest one?
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: limit: integer = 20 -- rows at most
// column: run -- id of the run
// column: task -- name of the task
// column: method -- name of the method
// column: mistake_agent -- name of the agent that was blamed
// column: mistake_step -- position of the action
// column: mistake_role -- role of that action
// column: progress -- share of the run's actions before it, from 0 to 1
// column: busiest_agent -- agent with the most actions; of several, the first in the run's order
// column: busiest_actions -- its number of actions
// column: same_agent -- whether the busiest agent was blamed
// key: run

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
AND (r.mistake_agent IS NOT NULL OR r.mistake_step IS NOT NULL)
OPTIONAL MATCH (r)-[:HAS_AGENT]->(g:Agent)
OPTIONAL MATCH (g)-[:PERFORMED]->(x:Action)
WITH r, t, m, g, count(x) AS actions
ORDER BY r.id, actions DESC, g.position
WITH r, t, m, head(collect(g.name)) AS busiest_agent, head(collect(actions)) AS busiest_actions
OPTIONAL MATCH (r)-[:HAS_ACTION]->(a:Action)
WHERE a.index = r.mistake_step
RETURN r.id AS run, t.name AS task, m.name AS method, r.mistake_agent AS mistake_agent,
  r.mistake_step AS mistake_step, a.role AS mistake_role,
  CASE WHEN r.node_count > 0 THEN toFloat(r.mistake_step) / r.node_count END AS progress,
  busiest_agent, CASE WHEN busiest_agent IS NOT NULL THEN busiest_actions END
    AS busiest_actions,
  busiest_agent = r.mistake_agent AS same_agent
ORDER BY run
LIMIT $limit
