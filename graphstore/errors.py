"""The errors that masgraph raises, as one tree.

    MasgraphError
    ├── InputError              a file or record that cannot be read
    │   └── GraphError          a graph that breaks a rule of the model
    ├── UsageError              an argument, name or option that makes no sense
    │   ├── NotFoundError       a run, query or format that does not exist
    │   └── QueryError          a Cypher text that was refused or that failed
    │       └── QueryTimeoutError
    ├── StoreError              a store that cannot be used
    │   ├── StoreUnreachableError
    │   ├── StoreAuthError
    │   ├── StoreLockedError    another process writes to the file
    │   └── StoreDamagedError   the file fails its own checks
    └── MissingExtraError       an optional package is not installed

Every message is one sentence for the person at the keyboard; no traceback is
needed to understand it.
"""


class MasgraphError(Exception):
    """Base of everything masgraph raises on purpose."""


class InputError(MasgraphError):
    """A file or record cannot be read.

    Attributes:
        file: The file as it was named by the caller, or None.
        record: The record inside the file (line, position or id), or None.
        reason: What is wrong, without the file and record.
    """

    def __init__(
        self, reason: str, *, file: str | None = None, record: str | None = None
    ) -> None:
        self.reason = reason
        self.file = file
        self.record = record
        where = ", ".join(
            part for part in (file, f"record {record}" if record else None) if part
        )
        super().__init__(f"{where}: {reason}" if where else reason)


class GraphError(InputError):
    """A graph breaks a rule of the model: a duplicate id, a cycle, a dangling reference."""


class UsageError(MasgraphError):
    """An argument, name or option makes no sense."""


class NotFoundError(UsageError):
    """A run, decomposition, saved query or format with that name does not exist."""


class QueryError(UsageError):
    """A Cypher text was refused, or the engine could not run it."""


class QueryTimeoutError(QueryError):
    """A query ran into its time limit."""


class StoreError(MasgraphError):
    """A store cannot be used."""


class StoreUnreachableError(StoreError):
    """No server answers, or the path cannot be opened."""


class StoreAuthError(StoreError):
    """The server refused the user or the password."""


class StoreLockedError(StoreError):
    """Another process holds the embedded file for writing."""


class StoreDamagedError(StoreError):
    """The embedded file, or its log, fails its own checks."""


class MissingExtraError(MasgraphError):
    """An optional package is needed and not installed.

    Args:
        package: The package that could not be imported.
        extra: The extra of masgraph that brings it.
        purpose: What it is needed for, as a noun phrase.
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"{purpose} needs the package {package}: run  pip install 'masgraph[{extra}]'"
        )


def unloadable(package: str, error: ImportError) -> str:
    """One sentence for a package that is installed and cannot be loaded.

    Args:
        package: Its name.
        error: What its import raised.
    """
    sentence = f"{package} is installed and cannot be loaded: {error}"
    if "static TLS" in str(error):
        # Compiled packages share one small reserve of memory; its size is set at the start.
        sentence += (
            ". Other packages took what room there was: start the program with  "
            "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384  in its environment"
        )
    return sentence
