// title: Actions of each role
// question: How much does each role do and write, in all runs together?
// column: role -- role of the actions
// column: actions -- their number
// column: counted -- those whose written tokens are known
// column: counted_tokens -- tokens written by these
// key: role

MATCH (a:Action)
RETURN a.role AS role, count(*) AS actions, count(a.tokens_out) AS counted,
  sum(a.tokens_out) AS counted_tokens
ORDER BY actions DESC, role
