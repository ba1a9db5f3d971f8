// title: Where failed runs part from successful ones
// question: At which action does each failed run of a task leave the path of the successful run that it resembles longest?
// parameter: task: string -- name or id of the task
// column: failed_run -- id of a run that failed
// column: successful_run -- id of the successful run that shares the longest beginning with it; of several, the one with the smallest id
// column: parting_index -- position of the first action whose role or kind differs: the length of the shared beginning
// column: failed_step -- role and kind of the failed run's action there, missing where it had ended
// column: successful_step -- role and kind of the successful run's action there, missing where it had ended
// column: failed_actions -- actions of the failed run
// column: successful_actions -- actions of the successful run
// key: failed_run

MATCH (r:Run)-[:OF_TASK]->(t:Task)
WHERE (t.name = $task OR t.id = $task) AND r.success IS NOT NULL
MATCH (r)-[:HAS_ACTION]->(a:Action)
WITH t, r, a
ORDER BY r.id, a.index
WITH t.id AS task, r.id AS run, r.success AS success, collect(a.role + ' ' + a.kind) AS steps
ORDER BY run
WITH task, collect({run: run, success: success, steps: steps}) AS runs
UNWIND [x IN runs WHERE NOT x.success] AS f
UNWIND [x IN runs WHERE x.success] AS s
WITH f, s, CASE WHEN size(f.steps) < size(s.steps) THEN size(f.steps) ELSE size(s.steps) END
  AS shorter
WITH f, s, shorter, [i IN range(0, shorter - 1) WHERE f.steps[i] <> s.steps[i]] AS differing
WITH f, s, coalesce(head(differing), shorter) AS parting
ORDER BY f.run, parting DESC, s.run
WITH f, head(collect(s)) AS s, head(collect(parting)) AS parting_index
RETURN f.run AS failed_run, s.run AS successful_run, parting_index,
  f.steps[parting_index] AS failed_step, s.steps[parting_index] AS successful_step,
  size(f.steps) AS failed_actions, size(s.steps) AS successful_actions
ORDER BY parting_index DESC, failed_run
