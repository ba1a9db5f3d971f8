// title: Motifs by category
// question: Which patterns recur in groups of each function?
// parameter: category: string = null -- only this category: foundation, capability, integrate or deliver
// parameter: library: string = null -- only this library (its name or id)
// parameter: limit: integer = 20 -- rows at most
// column: category -- the category
// column: name -- name of the motif
// column: task_support -- different tasks in which it occurs in such a group
// column: occurrences -- how often
// column: motif -- id of the motif
// column: library -- id of the library
// key: motif, category, library

MATCH (l:Library)-[:CONTAINS]->(x:Motif)
WHERE $library IS NULL OR l.name = $library OR l.id = $library
MATCH (x)-[i:INDEXED_UNDER]->(c:GroupCategory)
WHERE $category IS NULL OR c.name = $category
RETURN c.name AS category, x.name AS name, i.task_support AS task_support,
  i.count AS occurrences, x.id AS motif, l.id AS library
ORDER BY category, task_support DESC, occurrences DESC, motif, library
LIMIT $limit
