"""Drop files, see what was read and what was not."""

from typing import Any, cast

import streamlit as st

from app.dashboard import connection
from app.dashboard.page import Page
from app.dashboard.settings import current
from app.drop_jobs import DroppedFile, read_dropped, remember_report, what_was_dropped
from graphstore.embedded_files import writer_of
from graphstore.errors import StoreLockedError
from graphstore.store import open_store
from ingest.report import IngestReport

CONTENTS = {
    "redact": "with secrets and personal data taken out",
    "keep": "as they are, secrets too",
    "drop": "hashes only, not the words",
}


def show(page: Page) -> None:
    """Shows the page."""
    settings = current()
    if settings.is_read_only:
        page.empty(
            "this dashboard was opened with --read-only: read files with the command below",
            command="masgraph ingest PATH",
        )
        return
    place = connection.connection().place
    page.soft(f"Into {place.address}.")
    if place.file is not None:
        writer = writer_of(place.file)
        if writer is not None:
            page.warn(
                f"{writer} holds this file for writing: until it lets go, Read stores nothing"
            )
        else:
            page.soft(
                "One process at a time can write to this file: where another one holds it, "
                "Read stores nothing and says which one."
            )
    dropped = st.file_uploader(
        f"Traces and task decompositions, each of at most {settings.upload_megabytes:,} MB",
        accept_multiple_files=True,
        key="dropped",
    )
    columns = st.columns(3)
    with columns[0]:
        format = page.choose("Format", _formats(), "format", any="auto") or "auto"
    with columns[1]:
        content = (
            page.choose("Store contents", list(CONTENTS), "contents", any=None) or "redact"
        )
        page.soft(CONTENTS[content])
    with columns[2]:
        is_trial = page.switch("Only look, store nothing", "look")
        strict = page.switch("All or nothing", "strict")
    if st.button("Read", type="primary", disabled=not dropped):
        files = [DroppedFile(one.name, one.getvalue()) for one in dropped]
        st.session_state["ingest-report"] = _read(
            page, files, format, content, is_trial, strict
        )
    found = st.session_state.get("ingest-report")
    if found is None:
        page.empty(
            "nothing was read in this session yet: drop files above and press Read. Large "
            "folders are read faster by the command below",
            command="masgraph ingest PATH",
        )
        return
    _report(page, *found)


def _formats() -> list[str]:
    from ingest.registry import default_registry

    return [reader.format for reader in default_registry().readers()]


def _read(
    page: Page,
    files: list[DroppedFile],
    format: str,
    content: str,
    is_trial: bool,
    strict: bool,
) -> tuple[IngestReport, str] | None:
    bar = st.progress(0.0, text="Reading")

    def progress(done: float, total: float | None = None, note: str = "") -> None:
        bar.progress(min(done / total, 1.0) if total else 0.0, text=f"Reading: {note}")

    options: dict[str, Any] = {
        "format": format,
        "content": cast("Any", content),
        "progress": progress,
    }
    try:
        if is_trial:
            return read_dropped(files, None, **options), "Read, nothing stored"
        try:
            with open_store(current().address) as store:
                report = read_dropped(files, store, strict=strict, **options)
                nothing = strict and bool(report.rejected)
                if not nothing:
                    remember_report(
                        store, report, what_was_dropped(files), format=format, content=content
                    )
        except StoreLockedError as error:
            page.warn(f"nothing was read: {error}")
            return None
    finally:
        bar.empty()
    connection.forget()
    if nothing:
        return report, "Nothing was stored, because not all could be read"
    return report, "Read and stored"


def _report(page: Page, report: IngestReport, heading: str) -> None:
    page.heading(heading)
    numbers = report.to_dict()
    page.tiles(
        {
            name.replace("_", " "): value
            for name, value in numbers.items()
            if name not in ("rejected", "warnings")
        }
        | {"rejected": len(report.rejected)}
    )
    page.heading("What could not be read")
    if report.rejected:
        page.table(numbers["rejected"], "rejected", about="Rejected files and records, and why")
    else:
        page.empty("all of it could be read")
    page.heading("What had to be guessed or left out")
    if report.warnings:
        page.table(numbers["warnings"], "warnings", about="Warnings of the readers")
    else:
        page.empty("nothing had to be guessed or left out")
    if heading == "Read and stored":
        page.link("runs", "See the runs")
