"""Small simulated teams that really compute, and the problems that they work on."""
