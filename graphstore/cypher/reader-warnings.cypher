// title: What readers had to guess or leave out
// question: How far can the graphs of each format be trusted?
// parameter: limit: integer = 20 -- rows at most
// column: format -- format that the graphs were read from
// column: warning -- the reader's sentence
// column: graphs -- runs and decompositions with it
// column: example -- id of one of them
// key: format, warning

MATCH (n)-[:OF_TASK]->(:Task)
WHERE n.warnings IS NOT NULL
UNWIND n.warnings AS warning
WITH n.format AS format, warning, count(*) AS graphs, min(n.id) AS example
RETURN format, warning, graphs, example
ORDER BY graphs DESC, format, warning
LIMIT $limit
