// title: Templates by support
// question: How is work joined, and what is shared, in the most tasks?
// parameter: library: string = null -- only this library (its name or id)
// parameter: kind: string = null -- only these: integration or coupling
// parameter: limit: integer = 20 -- rows at most
// column: kind -- integration (a subtask joins contributions) or coupling (two share a resource)
// column: name -- the template in words
// column: crossing -- whether it joins different groups of a task
// column: task_support -- different tasks that show it
// column: occurrences -- how often
// column: template -- id of the template
// column: library -- id of the library
// key: template, library

MATCH (l:Library)-[:CONTAINS]->(x:Template)
WHERE ($library IS NULL OR l.name = $library OR l.id = $library)
AND ($kind IS NULL OR x.kind = $kind)
RETURN x.kind AS kind, x.name AS name, x.crossing AS crossing,
  x.task_support AS task_support, x.occurrence_count AS occurrences, x.id AS template,
  l.id AS library
ORDER BY task_support DESC, occurrences DESC, kind, template, library
LIMIT $limit
