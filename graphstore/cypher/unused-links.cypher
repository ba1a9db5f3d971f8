// title: Permitted links that were never used
// question: Which channels of an organization does no run use?
// parameter: organization: string = null -- only this organization (its name or id)
// parameter: limit: integer = 20 -- rows at most
// column: organization -- name of the organization
// column: sender -- unit that may send
// column: receiver -- unit that may receive
// column: kinds -- names of the relationship
// column: runs -- runs of this organization
// column: organization_id -- id of the organization
// column: sender_id -- id of the sending unit
// column: receiver_id -- id of the receiving unit
// key: sender_id, receiver_id

MATCH (o:Organization)-[:HAS_UNIT]->(u:Unit)-[l:MAY_SEND]->(v:Unit)
WHERE $organization IS NULL OR o.name = $organization OR o.id = $organization
WITH o, u, v, l
WHERE NOT EXISTS {
  (u)<-[:PLAYS]-(:Agent)-[:PERFORMED]->(:Action)-[:SENT_TO]->(:Agent)-[:PLAYS]->(v)
}
OPTIONAL MATCH (r:Run)-[:CONFIGURED_AS]->(o)
WITH o, u, v, l, count(r) AS runs
WHERE runs > 0
RETURN o.name AS organization, u.name AS sender, v.name AS receiver, l.kinds AS kinds, runs,
  o.id AS organization_id, u.id AS sender_id, v.id AS receiver_id
ORDER BY runs DESC, organization_id, sender_id, receiver_id
LIMIT $limit
