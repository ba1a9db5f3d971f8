// title: The parts of a library
// question: What does a library hold, part by part?
// parameter: library: string -- id of the library
// column: part -- type, pattern, rule, coarse graph, refinement, category, integration or coupling
// column: position -- its place among those
// column: name -- its name
// column: document -- JSON: all of it
// column: id -- its id
// key: id

MATCH (l:Library {id: $library})-[:CONTAINS]->(n)
WHERE n.part IS NOT NULL
RETURN n.part AS part, n.position AS position, n.name AS name, n.document AS document, n.id AS id
ORDER BY part, position, id
