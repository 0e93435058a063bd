"""The built package: what a person gets who installs it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import robotlab_nb

REPOSITORY = Path(__file__).parent.parent.parent


def test_the_wheel_holds_the_package_with_its_types_and_styles(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(build, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.startswith(f"robotlab_nb-{robotlab_nb.__version__}-")
    names = set(zipfile.ZipFile(wheel).namelist())
    kept = {
        path.relative_to(REPOSITORY).as_posix()
        for path in (REPOSITORY / "robotlab_nb").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"robotlab_nb/py.typed", "robotlab_nb/__init__.pyi"} <= kept
    assert kept - names == set()
    books = {p.name for p in (REPOSITORY / "notebooks").glob("*.ipynb")}
    assert {f"robotlab_nb/_notebooks/{book}" for book in books} <= names
    servers = {p.name for p in (REPOSITORY / "notebooks" / "servers").glob("*.py")}
    assert servers
    assert {f"robotlab_nb/_notebooks/servers/{server}" for server in servers} <= names
    outside = {name.partition("/")[0] for name in names} - {"robotlab_nb"}
    assert all(name.endswith(".dist-info") for name in outside)
    metadata = next(name for name in names if name.endswith("entry_points.txt"))
    told = zipfile.ZipFile(wheel).read(metadata).decode()
    assert "robotlab-nb = robotlab_nb.__main__:main" in told
