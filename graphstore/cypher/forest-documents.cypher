// title: Reference forests as they were written
// question: What does a set of reference forests say?
// parameter: forest_set: string -- id of the set
// column: forest -- id of the forest
// column: configuration -- JSON: how it was built
// column: selection -- JSON: which graphs were asked for
// column: document -- JSON: the forest
// key: forest

MATCH (f:ReferenceForest {forest_set: $forest_set})
RETURN f.id AS forest, f.configuration AS configuration, f.selection AS selection,
  f.document AS document
ORDER BY forest
