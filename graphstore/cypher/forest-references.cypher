// title: The references of a forest
// question: Which graphs of the store does a reference forest hold, and how much does each weigh?
// parameter: forest: string -- id of the forest
// column: reference -- id of a run or decomposition
// column: weight -- its share of the forest, from 0 to 1
// column: task -- name of its task
// column: method -- name of its method, missing where it names none
// column: nodes -- its actions or subtasks
// column: agents -- its agents
// key: reference

MATCH (f:ReferenceForest {id: $forest})-[c:CONTAINS]->(g)
MATCH (g)-[:OF_TASK]->(t:Task)
OPTIONAL MATCH (g)-[:BY_METHOD]->(m:Method)
RETURN g.id AS reference, c.weight AS weight, t.name AS task, m.name AS method,
  g.node_count AS nodes, g.agent_count AS agents
ORDER BY weight DESC, reference
