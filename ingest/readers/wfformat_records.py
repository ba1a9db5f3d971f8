"""The parts of a WfFormat file, whichever version of the schema it follows."""

from typing import Any

import msgspec

from graphstore.errors import InputError
from graphstore.model import Attributes
from ingest.readers.decoding import text_of

_STRUCTURE = frozenset(
    {"id", "name", "parents", "children", "inputFiles", "outputFiles", "files", "command"}
)
_UNKNOWN = {"parents": "unknownParents", "children": "unknownChildren"}
_SHOWN = 3
_TEXT = frozenset({str})
_NUMBER = frozenset({int})
_OLDER = {"runtime": "runtimeInSeconds", "memory": "memoryInBytes", "cores": "coreCount"}


class WorkflowTask(msgspec.Struct):
    """A task of a workflow.

    Attributes:
        id: Its id; its name in files without ids.
        parents: Ids of the tasks that it names as needed.
        children: Ids of the tasks that it names as following.
        inputs: Names of the files that it reads.
        outputs: Names of the files that it writes.
        command: The program with its arguments.
        program: The program alone, None where that is a script.
        measured: Whatever else the file says of it, by the names of version 1.5.
    """

    id: str
    name: str
    parents: list[str]
    children: list[str]
    inputs: list[str]
    outputs: list[str]
    command: str | None
    program: str | None
    measured: dict[str, Any]


class Workflow(msgspec.Struct):
    """A workflow.

    Attributes:
        engine: The runtime system's name.
        repository: Where the workflow's own code is.
        sizes: Size in bytes by file.
        attributes: Whatever else the file says of the whole.
        warnings: What was left out.
    """

    name: str
    description: str | None
    engine: str | None
    repository: str | None
    tasks: list[WorkflowTask]
    sizes: dict[str, int]
    attributes: Attributes
    warnings: list[str] = []


def parse(value: Any, uri: str) -> Workflow:
    """Reads version 1.5, and the shapes of 1.2 to 1.4.

    Args:
        value: The decoded file. It is not changed; the workflow shares lists with it.
        uri: The file as it was named, for errors.

    Raises:
        InputError: It holds no tasks, or an id stands twice.
    """
    try:
        return _parse(value)
    except InputError as error:
        raise InputError(error.reason, file=uri) from error


def _parse(value: Any) -> Workflow:
    body = value.get("workflow") if isinstance(value, dict) else None
    if not isinstance(body, dict):
        raise InputError("it holds no workflow")
    specified = body.get("specification")
    holder = specified if isinstance(specified, dict) else body
    listed = holder.get("tasks", holder.get("jobs"))
    if not isinstance(listed, list) or not listed:
        raise InputError("the workflow has no tasks")
    execution = body.get("execution")
    execution = execution if isinstance(execution, dict) else {}
    warnings: list[str] = []
    sizes = _sizes(holder.get("files"))
    measured = _measured(execution.get("tasks"))
    tasks = [_task(task, measured, sizes) for task in listed]
    _resolve(tasks, warnings)
    if measured:
        warnings.append(f"{len(measured)} measured tasks are not in the specification")
    system = value.get("runtimeSystem", value.get("wms"))
    engine = system.get("name") if isinstance(system, dict) else None
    repository = body.get("repo")
    attributes: Attributes = {
        key: other
        for key, other in value.items()
        if key not in ("name", "description", "workflow")
    }
    for part in (body, execution):
        attributes.update(
            (key, other)
            for key, other in part.items()
            if key not in ("specification", "execution", "tasks", "jobs", "files")
        )
    return Workflow(
        name=text_of(value.get("name")) or "workflow",
        description=text_of(value.get("description")),
        engine=engine if isinstance(engine, str) else None,
        repository=repository if isinstance(repository, str) and repository else None,
        tasks=tasks,
        sizes=sizes,
        attributes=attributes,
        warnings=warnings,
    )


def _measured(listed: Any) -> dict[str, dict[str, Any]]:
    """The measured tasks by id."""
    return {task["id"]: task for task in _objects(listed) if isinstance(task.get("id"), str)}


def _task(
    task: Any, measured: dict[str, dict[str, Any]], sizes: dict[str, int]
) -> WorkflowTask:
    if not isinstance(task, dict):
        raise InputError("a task is no object")
    name = task.get("name")
    stated = task.get("id", name)
    own = stated if isinstance(stated, str) else str(stated) if type(stated) is int else ""
    if not own:
        raise InputError("a task has no id")
    rest: dict[str, Any] = {}
    if not task.keys() <= _STRUCTURE:
        for key, other in task.items():
            if key not in _STRUCTURE:
                rest[_OLDER.get(key) or key] = other
    command = None
    if (found := measured.pop(own, None)) is not None:
        rest.update(found)
        del rest["id"]
        command = rest.pop("command", None)
    command = command or task.get("command")
    inputs = _names(task, "inputFiles", own)
    outputs = _names(task, "outputFiles", own)
    if "files" in task:
        inputs, outputs = [*inputs], [*outputs]
        for file in _objects(task["files"]):
            label = _size(file, sizes)
            if label is not None:
                (outputs if file.get("link") == "output" else inputs).append(label)
    program = command.get("program") if isinstance(command, dict) else None
    program = program if isinstance(program, str) and program else None
    return WorkflowTask(
        id=own,
        name=name if isinstance(name, str) and name else own,
        parents=_names(task, "parents", own),
        children=_names(task, "children", own),
        inputs=inputs,
        outputs=outputs,
        command=_command(command),
        program=program if program and len(program.split(None, 1)) == 1 else None,
        measured=rest,
    )


def _command(command: Any) -> str | None:
    if not isinstance(command, dict):
        return text_of(command)
    arguments = command.get("arguments")
    parts = [command.get("program"), *(arguments if isinstance(arguments, list) else ())]
    if _TEXT.issuperset(map(type, parts)):
        return " ".join(parts) or None
    return " ".join(text_of(part) or "" for part in parts if part is not None) or None


def _names(task: dict[str, Any], field: str, own: str) -> list[str]:
    value = task.get(field)
    if value is None:
        return []
    if not isinstance(value, list) or not _TEXT.issuperset(map(type, value)):
        raise InputError(f"the {field} of {own} are no list of names")
    return value


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _sizes(listed: Any) -> dict[str, int]:
    """Sizes of the files that have one, by name."""
    try:
        sizes: dict[str, int] = {file["id"]: file["sizeInBytes"] for file in listed}
    except (KeyError, TypeError):
        pass
    else:
        if _TEXT.issuperset(map(type, sizes)) and _NUMBER.issuperset(map(type, sizes.values())):
            sizes.pop("", None)
            return sizes
    sizes = {}
    for file in _objects(listed):
        _size(file, sizes)
    return sizes


def _size(file: dict[str, Any], sizes: dict[str, int]) -> str | None:
    """A file's name; its size goes to ``sizes``."""
    name = file.get("id", file.get("name"))
    if not isinstance(name, str) or not name:
        return None
    size = file.get("sizeInBytes", file.get("size"))
    if isinstance(size, int) and not isinstance(size, bool):
        sizes[name] = size
    return name


def _resolve(tasks: list[WorkflowTask], warnings: list[str]) -> None:
    """Turns what parents and children name into ids: an id, else a name that stands once.

    A name of no task says that the file holds a part of its workflow. What was run is as true
    as before: the task keeps the name as an attribute, and a warning counts such links.
    """
    ids = {task.id for task in tasks}
    if len(ids) < len(tasks):
        raise InputError(f"the id {_first_twice(tasks)} stands twice")
    unknown: list[str] = []
    names: dict[str, str | None] | None = None
    for task in tasks:
        if ids.issuperset(task.parents) and ids.issuperset(task.children):
            continue
        if names is None:
            names = _ids_by_name(tasks)
        for key, listed in (("parents", task.parents), ("children", task.children)):
            found = [other if other in ids else names.get(other) for other in listed]
            missing = [other for other, one in zip(listed, found, strict=True) if one is None]
            setattr(task, key, [one for one in found if one is not None])
            if missing:
                task.measured[_UNKNOWN[key]] = missing
                unknown += [f"{task.id} names {other}" for other in missing]
    if unknown:
        shown = ", ".join(unknown[:_SHOWN]) + (", ..." if len(unknown) > _SHOWN else "")
        warnings.append(
            f"{len(unknown)} links to tasks that the file does not hold were left out: {shown}"
        )


def _first_twice(tasks: list[WorkflowTask]) -> str | None:
    ids: set[str] = set()
    for task in tasks:
        if task.id in ids:
            return task.id
        ids.add(task.id)
    return None


def _ids_by_name(tasks: list[WorkflowTask]) -> dict[str, str | None]:
    """Ids by the names of tasks; None where several tasks have one name."""
    names: dict[str, str | None] = {}
    for task in tasks:
        names[task.name] = task.id if task.name not in names else None
    return names
