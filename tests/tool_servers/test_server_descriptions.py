"""What a server is told is checked when it is described, and shown without its secrets."""

from __future__ import annotations

import json
import pickle

import pytest

import robotlab_nb as rl
from robotlab_nb.core import secrets
from robotlab_nb.mcp import Server

TOKEN = "ghp_0123456789abcdefghij"


def refused(**options: object) -> str:
    with pytest.raises(rl.ConfigurationError) as raised:
        Server("files", **options)  # type: ignore[arg-type]
    return str(raised.value)


def test_the_same_server_from_keywords_a_dict_and_other_clients_json(tmp_path):
    plain = Server("files", command="npx", args=["-y", "files"], env={"DEPTH": "3"})
    nested = {"type": "stdio", "command": "npx", "args": ["-y", "files"], "env": {"DEPTH": 3}}
    assert Server.of({"name": "files", "transport": nested}) == plain
    assert Server.of(plain) is plain
    assert Server.of(plain.to_dict()) == plain
    path = tmp_path / ".mcp.json"
    entry = {"command": "npx", "args": ["-y", "files"], "env": {"DEPTH": "3"}, "autoApprove": []}
    path.write_text(json.dumps({"mcpServers": {"files": entry}}))
    assert Server.from_json(path) == [plain]
    assert hash(plain) == hash(Server.of({"name": "files", "transport": nested}))
    assert pickle.loads(pickle.dumps(plain)) == plain


@pytest.mark.parametrize("key", ["mcpServers", "servers", "context_servers"])
def test_json_of_other_clients_in_their_spellings(key):
    told = {
        "a": {"type": "http", "url": "https://example.org/mcp", "oauth": {}},
        "b": {"url": "http://127.0.0.1:9/sse"},
        "c": {"httpUrl": "http://127.0.0.1:9/mcp", "trust": True},
        "off": {"command": "x", "disabled": True},
        "d": {"type": "streamable-http", "url": "http://127.0.0.1:9/mcp", "timeout": 30_000},
    }
    found = Server.from_json({key: told})
    assert [s.name for s in found] == ["a", "b", "c", "d"]
    assert [s.kind for s in found] == ["http", "sse", "http", "http"]
    assert found[3].timeout == 30


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ("[1]", "no JSON object"),
        ('{"other": 1}', "no mcpServers"),
        ('{"mcpServers": {"a": 3}}', "the server 'a' is an object"),
        ('{"mcpServers": {"a": {"comand": "x"}}}', "Did you mean 'command'"),
        ('{"mcpServers": {"a": {}}}', "neither a command nor a url"),
    ],
)
def test_a_file_that_is_wrong_says_where(tmp_path, text, says):
    path = tmp_path / "servers.json"
    path.write_text(text)
    with pytest.raises(rl.ConfigurationError) as raised:
        Server.from_json(path)
    assert says in str(raised.value)
    assert str(path) in str(raised.value)
    with pytest.raises(rl.ConfigurationError, match="cannot be read"):
        Server.from_json(tmp_path / "nowhere.json")


def test_wrong_missing_and_unknown_options_are_named_when_built():
    assert "there is no transport type 'htp'. Did you mean 'http'?" in refused(type="htp")
    assert "neither a command nor a url" in refused()
    assert "stdio needs command" in refused(type="stdio")
    assert "websocket needs url" in refused(type="ws")
    assert "Did you mean 'headers'" in refused(url="http://h/mcp", heders={})
    assert "belongs to websocket" in refused(url="http://h/mcp", ping_interval=3)
    assert "no option 'command'" in refused(type="sse", url="http://h", command="x")
    assert "a number of seconds" in refused(command="x", timeout="soon")
    assert "a number of seconds" in refused(command="x", call_timeout=0)
    assert "a list of texts, not str" in refused(command="x", args="-y files")
    assert "args[1] is a text, not dict" in refused(command="x", args=["-y", {}])
    assert "args=['-y', 'files']" in refused(command="npx -y files")
    assert "args=['servers/shop.py']" in refused(command="python servers/shop.py")
    assert Server("a", command="/opt/My Programs/files-mcp").place == "'/opt/My Programs/files-mcp'"
    assert "begins with http:// or https://" in refused(type="http", url="ftp://host/")
    assert "begins with ws:// or wss://" in refused(type="ws", url="http://host/")
    assert "not the name of a variable" in refused(command="x", env={"A=B": "1"})
    assert "holds a line break" in refused(url="http://h", headers={"A": "b\r\nC: d"})
    assert "further tries" in refused(url="http://h", retry=-1)
    assert "it is a text" not in refused(command="x", description=3)
    with pytest.raises(rl.ConfigurationError, match="Put everything into the transport"):
        Server("a", transport={"command": "x"}, args=["-y"])
    with pytest.raises(rl.ConfigurationError, match="name is a text"):
        Server("")


def test_a_flat_description_is_read_or_refused_never_swallowed():
    flat = {"name": "files", "transport": "stdio", "command": "npx", "args": ["-y"]}
    assert Server.of(flat).transport["args"] == ("-y",)
    with pytest.raises(rl.ConfigurationError, match="Did you mean 'command'"):
        Server.of({"name": "files", "transport": "stdio", "comand": "npx"})
    beside = {"name": "files", "transport": {"type": "stdio"}, "command": "npx"}
    with pytest.raises(rl.ConfigurationError, match="stdio needs command|belongs into it"):
        Server.of(beside)
    with pytest.raises(rl.ConfigurationError, match="lacks its name"):
        Server.of({"command": "x"})
    with pytest.raises(rl.ConfigurationError, match="not str"):
        Server.of("files")  # type: ignore[arg-type]


def test_timeouts_are_seconds_or_milliseconds_and_at_least_one():
    assert Server("a", command="x").timeout == 15
    assert Server("a", command="x", timeout=20).timeout == 20
    assert Server("a", command="x", timeout=15_000).timeout == 15
    assert Server("a", command="x", timeout=0.1).timeout == 1


def test_secrets_are_shown_nowhere_and_leave_a_reference():
    server = Server(
        "github", url=f"https://me:{TOKEN}@example.org/mcp?api_key=k-123456789",
        headers={"Authorization": f"Bearer {TOKEN}", "X-Team": "blue"},
    )  # fmt: skip
    program = Server("g", command="x", args=["--token", TOKEN], env={"G_TOKEN": TOKEN, "D": "1"})
    for shown in (repr(server), server.place, json.dumps(server.to_dict()), repr(program),
                  program.place, json.dumps(program.to_dict()), server._repr_html_() or "",
                  program._repr_html_() or "", server.to_html()):  # fmt: skip
        assert TOKEN not in shown
        assert "k-123456789" not in shown
    assert program.to_dict()["transport"]["env"] == {"G_TOKEN": "${G_TOKEN}", "D": "1"}
    assert secrets.redact(f"the key {TOKEN}!") != f"the key {TOKEN}!"
    with pytest.raises(rl.RactorBoundaryError):
        pickle.dumps(program)


def test_a_server_does_not_change():
    server = Server("a", command="x", args=["-y"])
    with pytest.raises(rl.ConfigurationError, match="does not change"):
        server.name = "b"  # type: ignore[misc]
    with pytest.raises(TypeError):
        server.transport["command"] = "y"  # type: ignore[index]
    assert server != Server("a", command="x", args=["-n"])
    assert server != Server("b", command="x", args=["-y"])
    assert server != 3


def test_a_registered_transport_takes_its_own_options():
    rl.mcp.register_transport("carrier-pigeon", lambda options: None)
    server = Server("far", type="carrier-pigeon", wings=2)
    assert dict(server.transport) == {"type": "carrier-pigeon", "wings": 2}
    told = {"name": "far", "transport": {"type": "carrier-pigeon", "wings": 2}}
    assert Server.of(told) == server
    with pytest.raises(rl.ConfigurationError, match="built in"):
        rl.mcp.register_transport("http", lambda options: None)
    with pytest.raises(rl.ConfigurationError, match="cannot be called"):
        rl.mcp.register_transport("x", 3)  # type: ignore[arg-type]
