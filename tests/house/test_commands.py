"""Where the notebooks are that the command line opens."""

from __future__ import annotations

from pathlib import Path

from robotlab_nb.notebook import commands


def test_a_checkout_opens_its_own_notebooks(tmp_path):
    found = commands._notebooks(tmp_path / "copies")
    assert found == Path(commands.__file__).resolve().parents[2] / "notebooks"
    assert not (tmp_path / "copies").exists()


def test_an_installed_package_copies_them_and_never_overwrites_a_persons_own(tmp_path, monkeypatch):
    package = tmp_path / "site" / "robotlab_nb"
    (package / "_notebooks").mkdir(parents=True)
    (package / "_notebooks" / "01.ipynb").write_text("shipped")
    (package / "_notebooks" / "02.ipynb").write_text("shipped")
    (package / "_notebooks" / "servers").mkdir()
    (package / "_notebooks" / "servers" / "shop.py").write_text("shipped")
    (package / "notebook").mkdir()
    monkeypatch.setattr(commands, "__file__", str(package / "notebook" / "commands.py"))
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "01.ipynb").write_text("changed by me")
    assert commands._notebooks(mine) == mine.resolve()
    assert (mine / "01.ipynb").read_text() == "changed by me"
    assert (mine / "02.ipynb").read_text() == "shipped"
    assert (mine / "servers" / "shop.py").read_text() == "shipped"


def test_without_jupyterlab_the_command_says_how_to_get_it(monkeypatch, capsys):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert commands.main(["notebook"]) == 1
    assert "robotlab-nb[jupyter]" in capsys.readouterr().err
