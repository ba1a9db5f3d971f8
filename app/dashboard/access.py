"""Who may see the dashboard: a gate before everything that the server answers.

The gate stands before Streamlit, so that without a pass nothing is served: no page, no file,
no connection. It lets through

* a request whose cookie says that the password was given, or
* a request with a header that a proxy sets once it knows who asks,

and, where neither is asked for, requests to this machine by its own names only: another
site's name that leads here (DNS rebinding) is refused.
"""

import asyncio
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from html import escape
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from graphstore.errors import UsageError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "masgraph_pass"
LOGIN_PATH = "/-/login"
HEALTH_PATH = "/_stcore/health"
PASS_SECONDS = 12 * 3600
"""How long a pass holds."""

WRONG_SECONDS = 1.0
"""How long a wrong password waits; wrong ones wait for each other."""

MOST_FORM_BYTES = 4_096

_BROWSER_HEADERS = frozenset(
    [
        "accept",
        "cache-control",
        "connection",
        "cookie",
        "date",
        "dnt",
        "expect",
        "from",
        "host",
        "keep-alive",
        "origin",
        "pragma",
        "priority",
        "proxy-connection",
        "range",
        "referer",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "upgrade-insecure-requests",
        "user-agent",
    ]
)
_BROWSER_HEADER_STARTS = ("accept-", "access-control-", "content-", "if-", "sec-")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}

POLICY = "; ".join(
    (
        "default-src 'self'",
        # Streamlit starts with a script in its page, and runs components from blobs.
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "media-src 'self' data: blob:",
        "font-src 'self' data:",
        "worker-src 'self' blob:",
        "connect-src 'self' data: blob:{sockets}",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    )
)
"""What a browser may load for a page: from here, and from nowhere else."""

_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]+)?|\[[0-9A-Fa-f:]+\](:[0-9]+)?")

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>masgraph</title>
<style>:root{{color-scheme:light dark}}body{{font:16px/1.5 system-ui,sans-serif;max-width:22rem;
margin:15vh auto;padding:0 1rem}}input,button{{font:inherit;padding:.4rem .6rem;width:100%;
box-sizing:border-box;margin-top:.4rem}}</style>
<h1>masgraph</h1><form method="post" action="{action}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required
autofocus><input type="hidden" name="next" value="{next}">
<button>Open</button></form><p role="alert">{sentence}</p></html>
"""


@dataclass(frozen=True)
class Access:
    """What is asked of a request.

    Attributes:
        password: The password, None where none is asked for.
        header: Name of the header that a proxy sets, None where none is asked for.
        header_value: Its value; None where any value but an empty one will do.
    """

    password: str | None = None
    header: str | None = None
    header_value: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether nothing is asked for."""
        return self.password is None and self.header is None


def is_loopback(host: str) -> bool:
    """Whether an address reaches this machine only."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def check_access(host: str, access: Access) -> None:
    """Refuses to serve other machines without a password or a proxy's header.

    Args:
        host: The address to listen on.
        access: What is asked of a request.

    Raises:
        UsageError: Anybody could come in: nothing is asked for, or what every browser sends.
    """
    if access.password is not None and not access.password.strip():
        raise UsageError("the password is empty: give one that is not")
    if access.header is not None:
        _check_header(access.header)
    if access.is_open and not is_loopback(host):
        raise UsageError(
            f"{host} can be reached from other machines: ask for a password "
            "(MASGRAPH_APP_PASSWORD, or --password-file FILE), or for a header that your proxy "
            "sets (--require-header NAME), or listen on 127.0.0.1"
        )


def _check_header(name: str) -> None:
    if not _HEADER_NAME.fullmatch(name):
        raise UsageError("--require-header takes NAME or NAME=VALUE")
    lowered = name.lower()
    if lowered in _BROWSER_HEADERS or lowered.startswith(_BROWSER_HEADER_STARTS):
        raise UsageError(
            f"every browser may send {name}: --require-header takes a header that only your "
            "proxy sets, as X-Forwarded-User"
        )


class Gate:
    """An ASGI application before another one.

    Args:
        inner: The application that is guarded.
        access: What is asked of a request.
    """

    def __init__(self, inner: Application, access: Access) -> None:
        self._inner = inner
        self._access = access
        self._key = secrets.token_bytes(32)
        self._wrong = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, or passes it on."""
        if scope["type"] not in ("http", "websocket"):
            await self._inner(scope, receive, send)
            return
        headers = _headers(scope)
        send = _with_headers(send, headers.get("host", ""))
        path = str(scope.get("path", ""))
        if scope["type"] == "websocket" and not _is_same_origin(headers):
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        elif (scope["type"] == "http" and path == HEALTH_PATH) or self._lets_in(headers):
            await self._inner(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        elif self._access.password is None:
            await _answer(send, 403, _refusal(self._access), "text/plain")
        elif path == LOGIN_PATH and scope.get("method") == "POST":
            await self._log_in(scope, receive, send)
        elif path == LOGIN_PATH or _wants_page(headers):
            query = bytes(scope.get("query_string", b"")).decode("latin-1")
            await self._ask(send, path + (f"?{query}" if query else ""), "")
        else:
            await _answer(send, 401, "a password is needed", "text/plain")

    def _lets_in(self, headers: Mapping[str, str]) -> bool:
        access = self._access
        if access.is_open:
            # A loopback address is no name, so no other site's name can lead to it.
            return is_loopback(_host_name(headers.get("host", "")))
        if access.header is not None:
            found = headers.get(access.header.lower(), "")
            if found and (
                access.header_value is None
                or hmac.compare_digest(found.encode(), access.header_value.encode())
            ):
                return True
        return access.password is not None and self._is_pass(headers.get("cookie", ""))

    def _pass(self, until: int) -> str:
        mark = hmac.new(self._key, str(until).encode(), hashlib.sha256).hexdigest()
        return f"{until}.{mark}"

    def _is_pass(self, cookies: str) -> bool:
        try:
            found = SimpleCookie(cookies).get(COOKIE)
        except CookieError:
            return False
        until = found.value.partition(".")[0] if found else ""
        if found is None or not (until.isascii() and until.isdigit()) or len(until) > 12:
            return False
        fits = hmac.compare_digest(found.value.encode(), self._pass(int(until)).encode())
        return fits and int(until) > time.time()

    async def _log_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while len(body) <= MOST_FORM_BYTES:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        form = parse_qs(body[:MOST_FORM_BYTES].decode("utf-8", "replace"))
        given = form.get("password", [""])[0]
        following = form.get("next", ["/"])[0]
        password = self._access.password or ""
        if not hmac.compare_digest(given.encode(), password.encode()):
            async with self._wrong:
                await asyncio.sleep(WRONG_SECONDS)
            await self._ask(send, following, "That is not the password.")
            return
        until = int(time.time()) + PASS_SECONDS
        secure = "; Secure" if scope.get("scheme") == "https" else ""
        cookie = (
            f"{COOKIE}={self._pass(until)}; Path=/; Max-Age={PASS_SECONDS}; "
            f"HttpOnly; SameSite=Lax{secure}"
        )
        await send(
            {
                "type": "http.response.start",
                "status": 303,
                "headers": [
                    (b"location", _local(following).encode("latin-1", "replace")),
                    (b"set-cookie", cookie.encode()),
                    (b"cache-control", b"no-store"),
                ],
            }
        )
        await send({"type": "http.response.body", "body": b""})

    async def _ask(self, send: Send, following: str, sentence: str) -> None:
        page = _PAGE.format(
            action=escape(LOGIN_PATH),
            next=escape(_local(following), quote=True),
            sentence=escape(sentence),
        )
        await _answer(send, 401, page, "text/html")


def _with_headers(send: Send, host: str) -> Send:
    """Adds what keeps a browser here, where an answer does not say it itself."""
    # Not every browser takes this host's sockets for its own without being told.
    sockets = f" ws://{host} wss://{host}" if _HOST.fullmatch(host) else ""
    added = (
        (b"content-security-policy", POLICY.replace("{sockets}", sockets).encode()),
        (b"referrer-policy", b"no-referrer"),
        (b"x-content-type-options", b"nosniff"),
    )

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            names = {bytes(name).lower() for name, _ in given}
            more = [header for header in added if header[0] not in names]
            message = {**message, "headers": [*given, *more]}
        await send(message)

    return sending


def _headers(scope: Scope) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in scope.get("headers", ()):
        key = bytes(name).decode("latin-1").lower()
        text = bytes(value).decode("latin-1")
        found[key] = f"{found[key]}; {text}" if key == "cookie" and key in found else text
    return found


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _is_same_origin(headers: Mapping[str, str]) -> bool:
    """Whether a socket is opened by a page of this server, or by no browser at all.

    Cookies are sent whatever the port, and a socket's answer can be read by any page that may
    open it: the origin's name and port must be those that were asked for. A proxy that gives
    the server another name says the browser's in ``X-Forwarded-Host``, which no page can set.
    """
    origin = headers.get("origin")
    if origin is None:
        return True
    forwarded = headers.get("x-forwarded-host", "").partition(",")[0].strip()
    try:
        parts = urlsplit(origin)
        usual = _PORTS.get(parts.scheme)
        if usual is None or not parts.hostname:
            return False
        asked = urlsplit(f"//{forwarded or headers.get('host', '')}")
        return (parts.hostname, parts.port or usual) == (asked.hostname, asked.port or usual)
    except ValueError:
        return False


def _wants_page(headers: Mapping[str, str]) -> bool:
    return "text/html" in headers.get("accept", "")


def _local(address: str) -> str:
    """An address of this site to go on to, and no other site's."""
    plain = unquote(address)
    if (
        not address.startswith("/")
        or plain.startswith("//")
        or "\\" in plain
        or any(ord(letter) < 32 for letter in plain)
        or address.startswith(LOGIN_PATH)
    ):
        return "/"
    return address


def _refusal(access: Access) -> str:
    if access.is_open:
        return (
            "this dashboard answers to this machine only: open http://localhost, or ask for a "
            "password (MASGRAPH_APP_PASSWORD) to give it another name"
        )
    return "this dashboard is open to requests through its proxy only"


async def _answer(send: Send, status: int, text: str, kind: str) -> None:
    body = text.encode()
    headers = [
        (b"content-type", f"{kind}; charset=utf-8".encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; "
         b"form-action 'self'; frame-ancestors 'none'"),
        (b"x-content-type-options", b"nosniff"),
    ]  # fmt: skip
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
