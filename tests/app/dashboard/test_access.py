"""The gate before the dashboard, spoken to as a server speaks to it."""

import asyncio
from urllib.parse import urlencode

import pytest

from app.dashboard import access, connection, server, settings
from app.dashboard.access import COOKIE, LOGIN_PATH, Access, Gate, check_access, is_loopback
from graphstore.errors import UsageError

SECRET = "open sesame"


async def inner(scope, receive, send):
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"the store's secrets"})


class Answer:
    def __init__(self, messages):
        self.messages = messages
        self.status = messages[0].get("status")
        self.headers = {
            name.decode(): value.decode() for name, value in messages[0].get("headers", ())
        }
        self.text = b"".join(one.get("body", b"") for one in messages).decode()
        self.is_in = "the store's secrets" in self.text or any(
            one["type"] == "websocket.accept" for one in messages
        )


def ask(gate, path="/", *, kind="http", method="GET", body=b"", query=b"", **headers):
    given = {"host": "127.0.0.1:8501", "accept": "text/html"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    sent = []

    async def receive():
        return {"type": f"{kind}.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {
        "type": kind,
        "method": method,
        "path": path,
        "query_string": query,
        "scheme": "http",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }
    asyncio.run(gate(scope, receive, send))
    return Answer(sent)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(access, "WRONG_SECONDS", 0.05)


def log_in(gate, password=SECRET, following="/runs?run=x"):
    body = urlencode({"password": password, "next": following}).encode()
    return ask(gate, LOGIN_PATH, method="POST", body=body)


def test_without_a_password_only_this_machines_names_are_let_in():
    gate = Gate(inner, Access())
    for host in ("localhost:8501", "127.0.0.1", "[::1]:8501", "LOCALHOST", "127.0.0.2:1"):
        assert ask(gate, host=host).is_in
    for host in (
        "evil.example",
        "localhost.evil.example",
        "",
        "127.0.0.1.evil.example:80",
        "10.0.0.1",
    ):
        answer = ask(gate, host=host)
        assert answer.status == 403
        assert not answer.is_in
    assert not ask(gate, kind="websocket", host="evil.example").is_in


def test_nothing_is_served_without_the_password():
    gate = Gate(inner, Access(password=SECRET))
    for path in ("/", "/runs", "/static/js/index.js", "/_stcore/stream", "/media/x.csv"):
        for accept in ("text/html", "*/*"):
            answer = ask(gate, path, accept=accept)
            assert answer.status == 401
            assert not answer.is_in
    assert not ask(gate, "/_stcore/stream", kind="websocket").is_in
    assert ask(gate, "/_stcore/health").is_in


def test_the_password_opens_the_page_that_was_asked_for():
    gate = Gate(inner, Access(password=SECRET))
    assert 'name="next" value="/runs?run=x"' in ask(gate, "/runs", query=b"run=x").text
    answer = log_in(gate)
    assert answer.status == 303
    assert answer.headers["location"] == "/runs?run=x"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert SECRET not in cookie
    value = cookie.split(";")[0]
    assert ask(gate, cookie=value).is_in
    assert ask(gate, kind="websocket", cookie=value).is_in
    assert ask(gate, host="elsewhere.example", cookie=f"a=b; {value}").is_in


def test_a_wrong_password_and_forged_passes_stay_out():
    gate = Gate(inner, Access(password=SECRET))
    answer = log_in(gate, "Open sesame")
    assert answer.status == 401
    assert "set-cookie" not in answer.headers
    value = log_in(gate).headers["set-cookie"].split(";")[0].partition("=")[2]
    until, _, mark = value.partition(".")
    for forged in (
        f"{int(until) + 1}.{mark}",
        f"{until}.{'0' * 64}",
        until,
        "",
        "x.y",
        f"{'9' * 40}.{mark}",
        f"{until}.{mark}x",
    ):
        assert not ask(gate, cookie=f"{COOKIE}={forged}").is_in, forged
    assert not ask(Gate(inner, Access(password=SECRET)), cookie=f"{COOKIE}={value}").is_in


def test_a_pass_ends(monkeypatch):
    gate = Gate(inner, Access(password=SECRET))
    cookie = log_in(gate).headers["set-cookie"].split(";")[0]
    now = access.time.time()
    monkeypatch.setattr(access.time, "time", lambda: now + access.PASS_SECONDS + 2)
    assert not ask(gate, cookie=cookie).is_in


@pytest.mark.parametrize(
    "following",
    [
        "//evil.example/",
        "https://evil.example/",
        "/\\evil.example",
        "/%2fevil.example",
        "/%5cevil.example",
        "/a\r\nset-cookie: x=y",
        "javascript:alert(1)",
        LOGIN_PATH,
        "",
    ],
)
def test_after_the_password_one_stays_on_this_site(following):
    gate = Gate(inner, Access(password=SECRET))
    assert log_in(gate, following=following).headers["location"] == "/"


def test_what_a_link_says_is_text_on_the_page_that_asks():
    gate = Gate(inner, Access(password=SECRET))
    text = ask(gate, '/"><script>x</script>', query=b'"><script>y</script>').text
    assert "<script>" not in text
    assert "script-src" not in text


def test_a_proxys_header():
    gate = Gate(inner, Access(header="X-Forwarded-User"))
    assert ask(gate, x_forwarded_user="ann", host="team.example").is_in
    assert ask(gate, kind="websocket", x_forwarded_user="ann").is_in
    for headers in ({}, {"x_forwarded_user": ""}, {"x_other": "ann"}):
        answer = ask(gate, **headers)
        assert answer.status == 403
        assert not answer.is_in
    gate = Gate(inner, Access(header="X-Key", header_value="k1"))
    assert ask(gate, x_key="k1").is_in
    assert not ask(gate, x_key="k2").is_in
    both = Gate(inner, Access(password=SECRET, header="X-Key", header_value="k1"))
    assert ask(both, x_key="k1").is_in
    assert ask(both).status == 401


def test_other_machines_need_a_password_or_a_header():
    for host in ("0.0.0.0", "::", "192.168.1.2", "example.org"):
        with pytest.raises(UsageError, match="reached from other machines"):
            check_access(host, Access())
        check_access(host, Access(password=SECRET))
        check_access(host, Access(header="X-User"))
    for host in ("127.0.0.1", "localhost", "::1", "[::1]", "127.1.2.3"):
        check_access(host, Access())
        assert is_loopback(host)
    with pytest.raises(UsageError, match="empty"):
        check_access("127.0.0.1", Access(password=""))
    with pytest.raises(UsageError, match="empty"):
        check_access("0.0.0.0", Access(password=" \t"))


def test_a_header_that_every_browser_sends_gates_nothing():
    for name in ("Host", "user-agent", "Accept", "Accept-Language", "Sec-Fetch-Mode", "Cookie"):
        with pytest.raises(UsageError, match="every browser"):
            check_access("0.0.0.0", Access(header=name))
        with pytest.raises(UsageError, match="every browser"):
            check_access("127.0.0.1", Access(header=name, header_value="x"))
    with pytest.raises(UsageError, match="NAME=VALUE"):
        check_access("0.0.0.0", Access(header="X User"))
    for name in ("X-Forwarded-User", "Remote-User", "X-Proxy-Key", "Authorization"):
        check_access("0.0.0.0", Access(header=name))


def test_sockets_are_for_pages_of_the_same_name_and_port():
    gate = Gate(inner, Access())
    for origin in (
        "http://localhost:9999",
        "http://127.0.0.1:1",
        "http://127.0.0.1",
        "http://localhost:8501",
        "http://evil.example:8501",
        "null",
        "",
        "http://[",
        "http://127.0.0.1:x",
    ):
        assert not ask(gate, kind="websocket", origin=origin).is_in, origin
    assert ask(gate, kind="websocket", origin="http://127.0.0.1:8501").is_in
    assert ask(gate, kind="websocket").is_in
    guarded = Gate(inner, Access(password=SECRET))
    cookie = log_in(guarded).headers["set-cookie"].split(";")[0]
    for origin, is_in in (("https://team.example", True), ("https://team.example:1", False)):
        for name in ("host", "x-forwarded-host"):
            answer = ask(
                guarded,
                kind="websocket",
                cookie=cookie,
                origin=origin,
                **{name: "team.example"},
            )
            assert answer.is_in == is_in


def test_the_command_refuses_in_one_sentence(masgraph, monkeypatch, tmp_path):
    monkeypatch.delenv("MASGRAPH_APP_PASSWORD", raising=False)
    monkeypatch.delenv("MASGRAPH_APP_HEADER", raising=False)
    done = masgraph("app", "--host", "0.0.0.0")
    assert done.code == 2
    assert "MASGRAPH_APP_PASSWORD" in done.err
    done = masgraph("app", "--password-file", tmp_path / "none")
    assert done.code == 2
    assert "password" in done.err
    assert masgraph("app", "--require-header", "=x").code == 2
    done = masgraph("app", "--host", "0.0.0.0", "--require-header", "Host")
    assert done.code == 2
    assert "every browser" in done.err


def test_a_store_that_cannot_be_opened_is_said_at_once(masgraph, monkeypatch, tmp_path):
    monkeypatch.delenv("MASGRAPH_APP_PASSWORD", raising=False)
    monkeypatch.delenv("MASGRAPH_APP_HEADER", raising=False)
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("root:x:0:0\n")
    for store in (tmp_path / "folder", tmp_path / "text", "bolt://127.0.0.1:1"):
        done = masgraph("app", "--port", "0", "--store", store)
        assert done.code == 3, done.err
        assert "The dashboard of" not in done.out + done.err
        assert "Traceback" not in done.err


@pytest.mark.parametrize("remark", ["The dashboard of", ""])
def test_the_address_is_the_answer(masgraph, monkeypatch, remark):
    monkeypatch.setattr(
        server, "serve", lambda *_, ready, **__: ready("http://127.0.0.1:34567")
    )
    done = masgraph("app", "--port", "0", *([] if remark else ["--quiet"]))
    assert (done.code, done.out) == (0, "http://127.0.0.1:34567\n")
    assert done.err.startswith(remark)
    assert bool(done.err) == bool(remark)


def test_a_store_that_is_to_be_made_is_no_error(tmp_path):
    settings.configure(settings.Settings(store=str(tmp_path / "new.db")))
    connection.warm()
    assert not list(tmp_path.iterdir())


def test_a_missing_extra_is_named(masgraph, monkeypatch):
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "streamlit" else real(name)
    )
    done = masgraph("app")
    assert done.code == 2
    assert "pip install 'masgraph[ui]'" in done.err


def test_the_other_commands_do_not_load_streamlit():
    import subprocess
    import sys

    code = (
        "import sys, app.cli; sys.exit('streamlit' in sys.modules or 'uvicorn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_browser_is_told_to_load_nothing_from_elsewhere():
    answer = ask(Gate(inner, Access()))
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "http" not in policy
    assert "*" not in policy
    assert "connect-src 'self' data: blob: ws://127.0.0.1:8501 wss://127.0.0.1:8501;" in policy
    odd = ask(Gate(inner, Access(password=SECRET)), "/_stcore/health", host="a; script-src *")
    assert "*" not in odd.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    asked = ask(Gate(inner, Access(password=SECRET)))
    assert asked.headers["content-security-policy"].startswith("default-src 'none'")
