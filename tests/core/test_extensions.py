"""Extensions: registered by code, or offered by packages that are really installed."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

import robotlab_nb as rl
from robotlab_nb.core import extensions
from robotlab_nb.core.extensions import (
    extension,
    extension_loaded,
    loaded_extensions,
    register_extension,
)


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    monkeypatch.setattr(extensions, "_registered", {})
    monkeypatch.setattr(extensions, "_failed", set())


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install small packages: ``installed("name", code, {"extension": "value"})``."""
    monkeypatch.syspath_prepend(str(tmp_path))
    modules = set(sys.modules)

    def install(package: str, code: str, offers: dict[str, str]) -> None:
        (tmp_path / f"{package}.py").write_text(code)
        about = tmp_path / f"{package}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = "\n".join(f"{name} = {value}" for name, value in offers.items())
        (about / "entry_points.txt").write_text(f"[robotlab_nb.extensions]\n{lines}\n")

    yield install
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def test_what_is_registered_is_found_and_replaced_by_a_later_registration():
    assert not extension_loaded("weather")
    assert register_extension("weather", "first") == "first"
    assert extension_loaded("weather")
    register_extension("weather", "second")
    assert extension("weather") == "second"
    assert loaded_extensions() == ["weather"]


def test_an_unknown_name_lists_the_near_one():
    register_extension("weather", 1)
    with pytest.raises(rl.ConfigurationError, match="no extension 'whether'.*'weather'"):
        extension("whether")


@pytest.mark.parametrize(("name", "thing"), [("", 1), (" ", 1), (5, 1), ("weather", None)])
def test_what_cannot_be_registered_is_an_error(name, thing):
    with pytest.raises(rl.ConfigurationError):
        register_extension(name, thing)


def test_an_installed_package_is_imported_when_it_is_asked_for(installed):
    installed("rl_ext_ocean", "class Sea:\n    depth = 7\n", {"ocean": "rl_ext_ocean:Sea"})
    assert not extension_loaded("ocean")
    assert "rl_ext_ocean" not in sys.modules
    with pytest.raises(rl.ConfigurationError, match="Did you mean 'ocean'"):
        extension("oceans")
    assert "rl_ext_ocean" not in sys.modules
    assert extension("ocean").depth == 7
    assert extension_loaded("ocean")
    assert extension("ocean") is extension("ocean")


def test_a_module_may_register_itself_while_it_is_imported(installed):
    code = (
        "from robotlab_nb.core.extensions import register_extension\n"
        "register_extension('tide', 'its own')\n"
        "register_extension('ebb', 'another')\n"
    )
    installed("rl_ext_tide", code, {"tide": "rl_ext_tide"})
    assert extension("tide") == "its own"
    assert loaded_extensions() == ["ebb", "tide"]


def test_one_that_cannot_be_loaded_is_told_and_hurts_no_other(installed):
    installed("rl_ext_bad", "import nonesuch_package\n", {"bad": "rl_ext_bad"})
    installed("rl_ext_exit", "raise SystemExit(3)\n", {"exits": "rl_ext_exit"})
    installed("rl_ext_good", "x = 1\n", {"good": "rl_ext_good:x", "gone": "rl_ext_good:y"})
    with pytest.warns(RuntimeWarning) as warned:
        assert loaded_extensions() == ["good"]
    told = "\n".join(str(w.message) for w in warned)
    assert len(warned) == 3
    assert "'bad' of rl_ext_bad cannot be loaded (ModuleNotFoundError" in told
    assert "'exits'" in told
    assert "'gone'" in told
    assert warned[0].filename == __file__
    with pytest.raises(rl.ConfigurationError, match="nonesuch_package") as caught:
        extension("bad")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


@pytest.mark.filterwarnings("error")
def test_a_failure_is_warned_about_once_and_mended_by_asking_again(installed, tmp_path):
    installed("rl_ext_later", "import rl_ext_missing\n", {"later": "rl_ext_later"})
    with pytest.warns(RuntimeWarning):
        loaded_extensions()
    assert loaded_extensions() == []
    (tmp_path / "rl_ext_missing.py").write_text("")
    import importlib

    importlib.invalidate_caches()
    assert extension("later").__name__ == "rl_ext_later"
    assert loaded_extensions() == ["later"]


def test_two_packages_that_offer_the_same_name_are_both_named(installed):
    installed("rl_ext_one", "x = 1\n", {"shared": "rl_ext_one:x"})
    installed("rl_ext_two", "x = 2\n", {"shared": "rl_ext_two:x"})
    with pytest.raises(rl.ConfigurationError, match="rl_ext_one, rl_ext_two"):
        extension("shared")
    register_extension("shared", 3)  # a person decides
    assert extension("shared") == 3


def test_many_threads_that_ask_at_once_get_the_same_thing(installed):
    code = "import time\ntime.sleep(0.05)\nclass Thing: pass\n"
    installed("rl_ext_slow", code, {"slow": "rl_ext_slow:Thing"})
    found = []
    threads = [threading.Thread(target=lambda: found.append(extension("slow"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_package_installed_by_an_installer_is_found_by_a_fresh_process(tmp_path):
    """The real thing: pip builds and installs a project that declares the entry point."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "rl-ext-real"\nversion = "1.0"\n'
        '[project.entry-points."robotlab_nb.extensions"]\nreal = "rl_ext_real:greet"\n'
        '[tool.hatch.build.targets.wheel]\ninclude = ["rl_ext_real.py"]\n'
    )
    (project / "rl_ext_real.py").write_text("def greet():\n    return 'hello from a package'\n")
    target = tmp_path / "target"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    done = subprocess.run(
        [*pip, "--no-build-isolation", "--target", str(target), str(project)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"no installer here: {done.stderr[-200:]}")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from robotlab_nb.core.extensions import extension, loaded_extensions\n"
        "print(extension('real')(), loaded_extensions())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(target)], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "hello from a package ['real']\n", done.stderr
