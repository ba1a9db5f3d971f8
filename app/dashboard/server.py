"""Serves the dashboard: Streamlit behind the gate, with nothing that calls home."""

import importlib.util
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.dashboard.access import Access, Gate
from app.dashboard.settings import Settings, configure
from graphstore.errors import MasgraphError, MissingExtraError, UsageError

MAIN = Path(__file__).with_name("script") / "main.py"


def check_installed() -> None:
    """Says which extra is needed where Streamlit is missing.

    Raises:
        MissingExtraError: It is.
    """
    if importlib.util.find_spec("streamlit") is None:
        raise MissingExtraError("streamlit", "ui", "the dashboard")


def streamlit_options(host: str, port: int, upload_megabytes: int) -> dict[str, Any]:
    """Streamlit's options: no statistics, no watching of files, no foreign links.

    Args:
        host: The address to listen on.
        port: The port.
        upload_megabytes: Largest file that can be dropped.
    """
    return {
        "browser.gatherUsageStats": False,
        "client.showErrorDetails": "none",
        "client.showErrorLinks": False,
        "client.toolbarMode": "minimal",
        "global.developmentMode": False,
        "logger.hideWelcomeMessage": True,
        "logger.level": "error",
        "runner.magicEnabled": False,
        "server.address": host,
        "server.port": port,
        "server.headless": True,
        "server.showEmailPrompt": False,
        "server.enableXsrfProtection": True,
        "server.enableCORS": True,
        "server.enableAgentApi": False,
        "server.enableStaticServing": False,
        "server.fileWatcherType": "none",
        "server.runOnSave": False,
        "server.allowRunOnSave": False,
        "server.maxUploadSize": upload_megabytes,
        "secrets.files": [],
        "theme.light.primaryColor": "#2f7fc1",
        "theme.dark.primaryColor": "#4d9de0",
    }


def set_options(options: dict[str, Any]) -> None:
    """Sets Streamlit's options, over whatever a configuration file or variable says."""
    from streamlit import config

    config.get_config_options(force_reparse=True, options_from_flags=options)


def serve(
    settings: Settings,
    access: Access,
    *,
    host: str,
    port: int,
    ready: Callable[[str], None],
) -> None:
    """Serves until it is interrupted.

    Args:
        settings: What the pages need.
        access: What is asked of a request; :func:`app.dashboard.access.check_access` first.
        host: The address to listen on.
        port: The port; 0 takes a free one.
        ready: Called with the address once requests are taken.

    Raises:
        MissingExtraError: Streamlit is not installed.
        UsageError: The port is taken, or the address is none of this machine's.
        StoreError: The store is there but cannot be opened.
    """
    check_installed()
    import uvicorn
    from streamlit.starlette import App

    from app.dashboard.connection import close_all, warm

    listening = _listen(host, port)
    port = listening.getsockname()[1]
    configure(settings)
    try:
        warm()
    except MasgraphError:
        listening.close()
        raise
    set_options(streamlit_options(host, port, settings.upload_megabytes))
    gate: Any = Gate(App(MAIN), access)
    server = uvicorn.Server(
        uvicorn.Config(
            gate,
            log_level="error",
            access_log=False,
            server_header=False,
            ws_max_size=settings.upload_megabytes * 2**20,
            timeout_graceful_shutdown=2,
        )
    )
    shown = f"[{host}]" if ":" in host else host
    ready(f"http://{shown}:{port}")
    try:
        server.run(sockets=[listening])
    finally:
        listening.close()
        close_all()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM
        )[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise UsageError(f"{host} is no address to listen on: {error.strerror}") from error
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise UsageError(
            f"the port {port} of {host} cannot be taken: {error.strerror}; --port chooses "
            "another one, 0 any that is free"
        ) from error
    return listening
