"""The doctor: each fault is found, nothing is sent, no key is told, nothing raises."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections import namedtuple

import pytest

import robotlab_nb as rl
from robotlab_nb.display.pictures import html, text
from robotlab_nb.models.key_refs import PROVIDERS, default_key
from robotlab_nb.notebook import (
    check_up,
    checks_engine,
    checks_machine,
    checks_models,
    checks_notebook,
    checks_packages,
    checks_places,
)
from robotlab_nb.notebook.checks_places import log_place

CANARY = "sk-canary-0123456789abcdef"


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for provider in PROVIDERS:
        reference = default_key(provider)
        for name in reference.names if reference is not None else ():
            monkeypatch.delenv(name, raising=False)
    for name in list(os.environ):
        if "PROXY" in name.upper() or name in checks_models._BASES:
            monkeypatch.delenv(name)


def states(rows):
    return [row.state for row in rows]


def test_it_is_quick_sends_nothing_and_all_is_well_here(monkeypatch):
    def refuse(*_a, **_k):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    rl.doctor()
    began = time.perf_counter()
    found = rl.doctor()
    assert time.perf_counter() - began < 1
    assert found.ok, found.problems
    topics = {row.topic for row in found}
    assert topics >= {
        "Python", "packages", "litellm", "network pictures", "notebook", "live views",
        "event loops", "options", "default model", "keys", "prices", "engine", "runs", "threads",
        "memory", "clock", "proxies", "log",
    }  # fmt: skip
    assert not [row for row in found if "could not be checked" in row.found]


def test_it_loads_nothing_heavy_and_starts_nothing():
    code = (
        "import sys, threading, json, robotlab_nb as rl; rl.doctor(); "
        "print(json.dumps([sorted({m.partition('.')[0] for m in sys.modules}), "
        "threading.active_count()]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules, threads = json.loads(done.stdout)
    assert not {"litellm", "aiohttp", "pandas", "IPython", "pydantic"} & set(modules)
    assert threads == 1


def test_no_key_is_told_wherever_it_stands(monkeypatch):
    """Keys in all variables of all providers, in proxies and addresses, in settings."""
    for number, provider in enumerate(sorted(PROVIDERS)):
        reference = default_key(provider)
        for name in reference.names if reference is not None else ():
            monkeypatch.setenv(name, f"{CANARY}-{number}")
    monkeypatch.setenv("OPENAI_API_KEY", f"'{CANARY}'")
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:{CANARY}@proxy.example:1")
    monkeypatch.setenv("HTTP_PROXY", f"http://[{CANARY}")
    monkeypatch.setenv("OPENAI_BASE_URL", f"https://u:{CANARY}@host.example/v1?key={CANARY}")
    monkeypatch.setenv("ROBOTLAB_API_KEY", "my-own-canary-9876543210")
    monkeypatch.setenv("ROBOTLAB_MODEL", f"openai/{CANARY}")
    monkeypatch.setenv("ROBOTLAB_PROVIDER", "my-own-canary-9876543210")
    rl.options.reload()
    try:
        found = rl.doctor()
        told = f"{found!r}{html(found)}{text(found)}{json.dumps(found.to_dict())}"
        assert "canary" not in told
        assert "OPENAI_API_KEY" in told
        assert "proxy.example" in told
        assert "host.example" in told
    finally:
        monkeypatch.undo()
        rl.options.reload()


def test_a_check_that_fails_is_a_row_and_the_others_go_on(monkeypatch):
    def broken():
        raise RuntimeError(CANARY)

    monkeypatch.setattr(checks_machine, "check_memory", broken)
    found = rl.doctor()
    assert found["memory"].found == "could not be checked (RuntimeError)"
    assert found["clock"].state == "ok"
    with pytest.raises(rl.InputError, match="Did you mean 'clock'"):
        found["clok"]


def test_problems_come_first_and_the_command_line_says_so_by_its_code(monkeypatch, capsys):
    from robotlab_nb.notebook.commands import main

    assert main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["state"] in ("ok", "look")
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such.pem")
    assert main(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "1 wrong" in lines[0]
    assert "certificates" in lines[1]


# -- packages, notebook --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "state"),
    [("1.82.7", "wrong"), ("1.82.8", "wrong"), ("1.70.1", "look"), ("1.110.2", "ok")],
)
def test_releases_of_litellm_are_told_apart(monkeypatch, version, state):
    monkeypatch.setattr(checks_packages, "release_of", lambda name: version)
    assert states(checks_packages.check_litellm()) == [state]


def test_missing_and_old_packages_are_told_with_a_command(monkeypatch):
    real = checks_packages.release_of
    versions = {"anyio": None, "jinja2": "2.11"}
    monkeypatch.setattr(
        checks_packages, "release_of", lambda name: versions.get(name, real(name) or "99")
    )
    row = list(checks_packages.check_python())[-1]
    assert row.state == "wrong"
    assert "anyio not installed" in row.found
    assert "jinja2 is older than 3.1" in row.found
    assert "pip install anyio 'jinja2>=3.1'" in row.remedy.replace("'anyio'", "anyio")


@pytest.mark.parametrize(
    ("release", "state", "word"),
    [("6.31.0", "look", "-U"), ("7.3.0", "ok", ""), ("7.4.0", "ok", "")],
)
def test_kernels_are_told_apart(monkeypatch, release, state, word):
    monkeypatch.setattr(checks_notebook, "_in_kernel", lambda: True)
    monkeypatch.setattr(checks_notebook, "release_of", lambda name: release)
    (row,) = checks_notebook.check_kernel()
    assert row.state == state
    assert word in row.remedy
    assert ("buttons wait" in row.found) == (release == "7.4.0")


@pytest.mark.parametrize(("heard", "state"), [(True, "ok"), (None, "ok"), (False, "look")])
def test_whether_the_page_answered_is_told(monkeypatch, heard, state):
    Painter = namedtuple("Painter", "widgets")
    monkeypatch.setattr(checks_notebook, "_in_kernel", lambda: True)
    monkeypatch.setattr("robotlab_nb.runtime.notebook.painter", lambda: Painter(heard))
    assert states(checks_notebook.check_widgets()) == [state]


def test_widget_managers_that_do_not_fit_and_widgets_that_are_missing(monkeypatch):
    versions = {"ipywidgets": "8.1.9", "anywidget": "0.11", "jupyterlab_widgets": "1.1.0"}
    monkeypatch.setattr(checks_notebook, "release_of", versions.get)
    assert states(checks_notebook.check_widgets()) == ["wrong"]
    del versions["anywidget"]
    (row,) = checks_notebook.check_widgets()
    assert "anywidget not installed" in row.found


def test_a_patched_loop_is_wrong_in_a_process_of_its_own():
    code = (
        "import {0}; {0}.apply()\n"
        "from robotlab_nb.notebook.checks_notebook import check_nested_loops as c\n"
        "print([r.state for r in c()])"
    )
    for package, state in (("nest_asyncio", "wrong"), ("nest_asyncio2", "look")):
        done = subprocess.run(
            [sys.executable, "-c", code.format(package)], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == f"['{state}']"


# -- models ------------------------------------------------------------------------------------


def test_the_default_model_is_told_and_whether_it_can_answer(monkeypatch):
    (row,) = checks_models.check_default_model()
    assert (row.state, "simulated" in row.found) == ("ok", True)
    for name, variable in (("openai/gpt-5-mini", "OPENAI_API_KEY"),
                           ("anthropic/claude-x", "ANTHROPIC_API_KEY")):  # fmt: skip
        with rl.options(model=name):
            (row,) = checks_models.check_default_model()
            assert row.state == "wrong"
            assert variable in row.found
            monkeypatch.setenv(variable, CANARY)
            (row,) = checks_models.check_default_model()
            assert (row.state, row.found) == ("ok", name)
    with rl.options(model="opnai/x"):
        (row,) = checks_models.check_default_model()
        assert "Did you mean 'openai'" in row.found


def test_a_key_in_quotation_marks_is_wrong_and_addresses_are_told_by_host(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", f'"{CANARY}"')
    bad, good = checks_models.check_keys()
    assert (bad.state, "quotation marks" in bad.found) == ("wrong", True)
    assert good.found == "OPENAI_API_KEY (openai)"
    assert not list(checks_models.check_addresses())
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1234/v1")
    (row,) = checks_models.check_addresses()
    assert row.found == "OPENAI_BASE_URL leads to localhost"


def test_option_files_in_force_changed_and_broken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rl.options.reload()
    file = tmp_path / "robotlab_nb.yml"
    try:
        file.write_text("temperature: 0.5\n")
        (row,) = checks_models.check_option_files()
        assert (row.state, row.remedy) == ("look", "`rl.options.reload()`")
        rl.options.reload()
        (row,) = checks_models.check_option_files()
        assert (row.state, row.found) == ("ok", "file robotlab_nb.yml (1 set)")
        file.write_text("temprature: 0.5\n")
        (row,) = checks_models.check_option_files()
        assert row.state == "wrong"
        assert "temperature" in row.found
    finally:
        file.unlink()
        rl.options.reload()


def test_an_old_price_file_and_none(tmp_path, monkeypatch):
    file = tmp_path / "prices.json"
    file.write_text("{}")
    monkeypatch.setattr("robotlab_nb.models.price_file.price_file", lambda: file)
    assert states(checks_models.check_prices()) == ["ok"]
    os.utime(file, (time.time() - 400 * 86400,) * 2)
    (row,) = checks_models.check_prices()
    assert (row.state, "400 days" in row.found) == ("look", True)
    monkeypatch.setattr("robotlab_nb.models.price_file.price_file", lambda: None)
    assert states(checks_models.check_prices()) == ["look"]


# -- engine ------------------------------------------------------------------------------------


def test_a_loop_that_an_async_tool_blocks_is_wrong_and_waiting_runs_are_told():
    async def block() -> str:
        "Block."
        time.sleep(1.0)  # noqa: ASYNC251  (the fault that is to be found)
        return "x"

    model = rl.SimulatedModel([("block", {}), "done"])
    run = rl.build("blocker", model=model, tools=[block]).start("x")
    end = time.monotonic() + 5
    while not run.state.tool_calls and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.05)
    assert states(checks_engine.check_loop()) == ["wrong"]
    assert "blocker" in next(iter(checks_engine.check_runs())).found
    run.result()
    assert states(checks_engine.check_loop()) == ["ok"]

    steps = [("ask_user", {"question": "Which?"}), "ok"]
    waiting = rl.build("asker", model=rl.SimulatedModel(steps), tools=[rl.ask_user]).start("x")
    try:
        waiting.result()
        (row,) = checks_engine.check_runs()
        assert (row.state, row.found) == ("look", "waiting for an answer: asker")
    finally:
        waiting.stop()


# -- machine -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "state"), [("nfs4", "look"), ("fuse.sshfs", "look"), ("ext4", "ok")]
)
def test_a_log_on_a_network_disk_is_warned_of(tmp_path, monkeypatch, kind, state):
    mounts = [(str(tmp_path), kind), (str(tmp_path)[:-1], "nfs"), ("/", "ext4")]
    monkeypatch.setattr(checks_places, "_mounts", lambda: mounts)
    rows = list(log_place(tmp_path / "not" / "yet"))
    assert states(rows) == [state]
    assert (kind in rows[0].found) == (state == "look")
    assert not (tmp_path / "not").exists()


def test_a_disk_whose_name_only_begins_alike_does_not_count(tmp_path, monkeypatch):
    mounts = [("/", "ext4"), (str(tmp_path)[:-1], "nfs")]
    monkeypatch.setattr(checks_places, "_mounts", lambda: mounts)
    assert states(log_place(tmp_path)) == ["ok"]


def test_an_old_sqlite_a_full_disk_and_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(checks_places, "_mounts", lambda: [("/", "ext4")])
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 7, 17))
    Usage = namedtuple("Usage", "free")
    monkeypatch.setattr(checks_places.shutil, "disk_usage", lambda path: Usage(1_000_000))
    monkeypatch.setattr(checks_places.os, "access", lambda path, mode: False)
    told = " ".join(row.found for row in log_place(tmp_path))
    assert "older than 3.35" in told
    assert "cannot be written to" in told
    assert "1 MB are left" in told


def test_the_log_that_is_in_force_is_looked_at(tmp_path):
    def told(where):
        with rl.options(log=where):
            (row,) = checks_machine.check_log()
        return row

    assert told(None).found == "off: runs are not kept"
    assert str(tmp_path) in told(tmp_path / "deep" / "log.sqlite").found
    kept = told("postgresql://ann:hunter2-canary@db.example/runs")
    assert (kept.state, "canary" in kept.found, "db.example" in kept.found) == ("ok", False, True)
    assert told("mysql://db/runs").state == "wrong"


def test_the_mounts_of_this_machine_can_be_read():
    if sys.platform.startswith("linux"):
        assert "/" in dict(checks_places._mounts())


def test_proxies_memory_and_clock(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://a:b@proxy.example:3128")
    (row,) = checks_machine.check_proxies()
    assert (row.state, row.found.startswith("HTTPS_PROXY leads to proxy.example")) == ("look", True)
    monkeypatch.setenv("NO_PROXY", "localhost,127.0.0.1")
    assert states(checks_machine.check_proxies()) == ["ok"]
    monkeypatch.setattr(checks_machine, "free_memory", lambda: 1_000_000)
    assert states(checks_machine.check_memory()) == ["look"]
    monkeypatch.setattr(checks_machine, "time", lambda: 0.0)
    assert states(checks_machine.check_clock()) == ["wrong"]


def test_its_picture_is_short_and_says_the_same_everywhere():
    found = check_up.CheckUp(
        [
            check_up.notice("prices", "old <b>", "`pip install -U litellm`"),
            check_up.Row("wrong", "clock", "behind", "Set it."),
            check_up.Row("ok", "dot", "found"),
        ]
    )
    drawn, told = html(found), text(found)
    assert "&lt;b&gt;" in drawn
    for word in ("✕", "clock", "behind", "Set it.", "pip install -U litellm", "✓", "dot"):
        assert word in drawn
        assert word in told
    assert told.index("clock") < told.index("prices") < told.index("dot")
    assert len(text(rl.doctor()).splitlines()) <= 40
