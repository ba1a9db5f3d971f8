// title: Claims that stand out
// question: Which claims did other agents endorse or challenge most?
// parameter: run: string = null -- only this run (its id)
// parameter: dataset: string = null -- only runs of this data set's tasks (its name)
// parameter: method: string = null -- only runs of this method (its name)
// parameter: limit: integer = 20 -- rows at most
// column: run -- id of the run
// column: unit -- the sample or state, missing where the trace does not say
// column: claim -- the claim as the trace names it
// column: text -- what is claimed
// column: agent -- name of the agent that made it
// column: endorsements -- agents whose last word on it is an endorsement
// column: challenges -- agents whose last word on it is a challenge
// column: top_endorsed -- whether no claim of the unit has more endorsements
// column: top_challenged -- whether no claim of the unit has more challenges
// column: id -- id of the claim
// key: id

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE ($run IS NULL OR r.id = $run) AND ($dataset IS NULL OR t.dataset = $dataset)
OPTIONAL MATCH (r)-[:BY_METHOD]->(m:Method)
WITH r, m
WHERE ($method IS NULL OR m.name = $method)
MATCH (r)<-[:OF]-(c:Claim)
OPTIONAL MATCH (c)<-[:CLAIMS]-(a:Action)<-[:PERFORMED]-(g:Agent)
RETURN r.id AS run, c.unit AS unit, c.name AS claim, c.text AS text, g.name AS agent,
  c.endorsements AS endorsements, c.challenges AS challenges, c.top_endorsed AS top_endorsed,
  c.top_challenged AS top_challenged, c.id AS id
ORDER BY endorsements + challenges DESC, endorsements DESC, id
LIMIT $limit
