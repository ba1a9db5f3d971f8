"""All problems, in the order in which the teams get them."""

from teams.problems import constraints, letters, packing, routes, sums, tables
from teams.task import Task

TASKS: tuple[Task, ...] = (
    *sums.TASKS,
    *tables.TASKS,
    *routes.TASKS,
    *packing.TASKS,
    *letters.TASKS,
    *constraints.TASKS,
)
