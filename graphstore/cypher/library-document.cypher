// title: The document of a library
// question: What does a library say of itself, as it was mined?
// parameter: library: string -- id of the library
// column: library -- its id
// column: configuration -- JSON: its configuration
// column: summary -- JSON: what was found, in numbers
// column: document -- JSON: all of it but for the parts that are nodes of their own
// key: library

MATCH (l:Library {id: $library})
RETURN l.id AS library, l.configuration AS configuration, l.summary AS summary,
  l.document AS document
ORDER BY library
