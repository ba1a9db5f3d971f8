// title: Stored reports
// question: Which reports about many runs are in the store?
// parameter: kind: string = null -- only reports of this kind: trajectories for example
// parameter: limit: integer = 100 -- rows at most
// column: report -- id of the report
// column: kind -- which job made it
// column: name -- its title
// column: runs -- how many runs it rests on
// column: selection -- JSON: which runs were asked for
// column: configuration_hash -- hash of the job's configuration
// key: report

MATCH (r:Report)
WHERE $kind IS NULL OR r.kind = $kind
RETURN r.id AS report, r.kind AS kind, r.name AS name, r.runs AS runs, r.selection AS selection,
  r.configuration_hash AS configuration_hash
ORDER BY kind, name, report
LIMIT $limit
