// title: Number of motifs by shape
// question: Which shapes do the patterns of a library have?
// parameter: library: string -- id of the library
// parameter: holding: string = null -- only patterns with a label that holds this text
// column: shape -- a shape
// column: motifs -- patterns that have it
// key: shape

MATCH (l:Library {id: $library})-[:CONTAINS]->(x:Motif)
WHERE $holding IS NULL OR toLower(x.name) CONTAINS $holding
WITH x.shape AS shape, count(*) AS motifs
RETURN shape, motifs
ORDER BY shape
