// title: Coarse graphs
// question: Of how many groups are tasks and their groups made, and how do these hang together?
// parameter: library: string = null -- only this library (its name or id)
// parameter: category: string = null -- only groups of this category
// parameter: limit: integer = 20 -- rows at most
// column: name -- name of the task or group
// column: depth -- 0 for a whole task
// column: category -- of the group, missing for tasks and where it has none
// column: groups -- number of groups in it
// column: dependencies -- pairs of groups with a dependency
// column: couplings -- pairs of groups with a coupling
// column: leaves -- number of subtasks in all of them
// column: signature -- equal for equal structures
// column: graph -- id of the decomposition or run
// column: coarse_graph -- id of the coarse graph
// column: library -- id of the library
// key: coarse_graph, library

MATCH (l:Library)-[:CONTAINS]->(x:CoarseGraph)
WHERE ($library IS NULL OR l.name = $library OR l.id = $library)
AND ($category IS NULL OR x.category = $category)
RETURN x.name AS name, x.depth AS depth, x.category AS category, x.groups AS groups,
  x.dependencies AS dependencies, x.couplings AS couplings, x.leaves AS leaves,
  x.signature AS signature, x.graph AS graph, x.id AS coarse_graph, l.id AS library
ORDER BY groups DESC, leaves DESC, graph, depth, coarse_graph, library
LIMIT $limit
