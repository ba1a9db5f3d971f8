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
// column: busiest_agents -- names of the agents with the most actions: several where they tie
// column: busiest_actions -- the number of actions of each of them
// column: same_agent -- whether a busiest agent was blamed
// key: run

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE $dataset IS NULL OR t.dataset = $dataset
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, t, m
WHERE ($method IS NULL OR m.name = $method)
AND (r.mistake_agent IS NOT NULL OR r.mistake_step IS NOT NULL)
OPTIONAL MATCH (r)-[:HAS_AGENT]->(g:Agent)
OPTIONAL MATCH (g)-[:PERFORMED]->(x:Action)
WITH r, t, m, g.name AS agent, g.position AS position, count(x) AS actions
ORDER BY r.id, position
WITH r, t, m, collect(agent) AS agents, collect(actions) AS counts
WITH r, t, m, agents, counts,
  reduce(top = 0, one IN counts | CASE WHEN one > top THEN one ELSE top END) AS top
WITH r, t, m, top,
  [place IN range(0, size(agents) - 1) WHERE counts[place] = top | agents[place]]
    AS busiest_agents
OPTIONAL MATCH (r)-[:HAS_ACTION]->(a:Action)
WHERE a.index = r.mistake_step
RETURN r.id AS run, t.name AS task, m.name AS method, r.mistake_agent AS mistake_agent,
  r.mistake_step AS mistake_step, a.role AS mistake_role,
  CASE WHEN r.node_count > 0 THEN toFloat(r.mistake_step) / r.node_count END AS progress,
  busiest_agents, CASE WHEN size(busiest_agents) > 0 THEN top END AS busiest_actions,
  CASE WHEN size(busiest_agents) > 0 THEN r.mistake_agent IN busiest_agents END
    AS same_agent
ORDER BY run
LIMIT $limit
