"""The driver's and the server's errors as sentences of masgraph's own."""

import re

import neo4j.exceptions

from graphstore.errors import (
    MasgraphError,
    QueryError,
    QueryTimeoutError,
    StoreAuthError,
    StoreError,
    StoreUnreachableError,
)

FAILURES = (neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError, OSError)
"""What the driver raises when something goes wrong outside of masgraph."""

_NO_VALUE = re.compile(r"Expected parameter\(s\): (\w+)")
_UNREACHABLE = ("DatabaseUnavailable", "NotALeader", "ForbiddenOnReadOnlyDatabase")


def one_line(error: BaseException) -> str:
    """What an error says, on one line of at most 300 characters."""
    message: object = getattr(error, "message", None) or str(error) or type(error).__name__
    line = re.split(r"\s*\n", str(message).strip())[0]
    return line if len(line) <= 300 else line[:297] + "..."


def is_lack_of_memory(error: Exception) -> bool:
    """Whether the server had not enough memory for a transaction."""
    return "OutOfMemory" in str(getattr(error, "code", None))


def may_pass(error: neo4j.exceptions.Neo4jError | neo4j.exceptions.DriverError) -> bool:
    """Whether the same transaction may succeed a moment later.

    A unique constraint that was hit means that another process stored the same node in the
    meantime; a commit whose answer got lost may have happened.
    """
    return error.is_retryable() or isinstance(
        error, neo4j.exceptions.ConstraintError | neo4j.exceptions.IncompleteCommit
    )


def store_error(error: Exception, url: str, database: str | None) -> MasgraphError:
    """Why a store cannot be used.

    Args:
        error: One of :data:`FAILURES`.
        url: The server's URI.
        database: The database that was asked for, None for the server's own.
    """
    code = str(getattr(error, "code", None) or "")
    if isinstance(error, neo4j.exceptions.AuthError) or ".Security." in code:
        if "Unauthorized" in code:
            return StoreAuthError(
                f"the server at {url} refused the user or the password: "
                "set NEO4J_USER and NEO4J_PASSWORD"
            )
        return StoreAuthError(f"the server at {url} refused: {one_line(error)}")
    if "DatabaseNotFound" in code:
        return StoreUnreachableError(f"the server at {url} has no database named {database!r}")
    if isinstance(error, neo4j.exceptions.UnsupportedServerProduct):
        return StoreError(f"the server at {url} is no Neo4j: {one_line(error)}")
    if isinstance(error, neo4j.exceptions.Neo4jError) and not code.endswith(_UNREACHABLE):
        return StoreError(f"the server at {url} failed: {one_line(error)}")
    return StoreUnreachableError(f"no Neo4j answers at {url}: {one_line(error)}")


def query_error(
    error: Exception, timeout: float, url: str, database: str | None
) -> MasgraphError:
    """Why a query has no answer.

    Args:
        error: One of :data:`FAILURES`.
        timeout: The query's time limit in seconds.
        url: The server's URI.
        database: The database that was asked for, None for the server's own.
    """
    code = str(getattr(error, "code", None) or "")
    if "TransactionTimedOut" in code or "LockClientStopped" in code:
        return QueryTimeoutError(f"the query ran into its time limit of {timeout:g} s")
    if code.endswith("ParameterMissing") and (found := _NO_VALUE.search(str(error))):
        return QueryError(f"the query needs a value for its parameter {found[1]}")
    if ".Statement." in code or ".Procedure." in code or is_lack_of_memory(error):
        return QueryError(f"Neo4j cannot run the query: {one_line(error)}")
    return store_error(error, url, database)
