// title: One stored report
// question: What does a report say?
// parameter: report: string -- id of the report
// column: report -- its id
// column: kind -- which job made it
// column: name -- its title
// column: runs -- how many runs it rests on
// column: selection -- JSON: which runs were asked for
// column: configuration_hash -- hash of the job's configuration
// column: configuration -- JSON: the job's configuration
// column: document -- JSON: what was found
// key: report

MATCH (r:Report {id: $report})
RETURN r.id AS report, r.kind AS kind, r.name AS name, r.runs AS runs, r.selection AS selection,
  r.configuration_hash AS configuration_hash, r.configuration AS configuration,
  r.document AS document
ORDER BY report
