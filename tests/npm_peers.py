"""Tool servers of others, from npm: installed once into a cache folder, then used from there."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

#: what the tests were written against
VERSION = "2026.8.31"
SERVERS = ("server-everything", "server-filesystem", "server-memory")


def folder() -> Path:
    """Where they are kept; ROBOTLAB_NB_TEST_NPM names another place."""
    import platformdirs

    base = os.environ.get("ROBOTLAB_NB_TEST_NPM") or platformdirs.user_cache_path("robotlab_nb")
    return Path(base) / f"npm-peers-{VERSION}"


def installed() -> tuple[Path | None, str]:
    """The folder that holds them, installed if need be; else None and why not."""
    found = folder()
    if _complete(found):
        return found, ""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return None, "npm or node is not installed"
    found.parent.mkdir(parents=True, exist_ok=True)
    # Beside its place, then moved there whole: several tests may do this at the same time.
    with tempfile.TemporaryDirectory(dir=found.parent) as scratch:
        wanted = [f"@modelcontextprotocol/{name}@{VERSION}" for name in SERVERS]
        command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", *wanted]
        (Path(scratch) / "package.json").write_text('{"private": true}', "utf-8")
        try:
            done = subprocess.run(
                command, cwd=scratch, capture_output=True, text=True, timeout=240, check=False
            )
        except subprocess.TimeoutExpired:
            return None, "npm did not finish within 240 s"
        if done.returncode or not _complete(Path(scratch)):
            return None, f"npm could not install the servers: {done.stderr.strip()[-300:]}"
        target = Path(f"{scratch}-whole")
        os.rename(scratch, target)
        Path(scratch).mkdir()  # for the context manager to take away
        try:
            os.rename(target, found)
        except OSError:  # another test was faster
            shutil.rmtree(target, ignore_errors=True)
    return (found, "") if _complete(found) else (None, f"{found} is not complete")


def program(found: Path, name: str) -> Path:
    """The file of a server that node runs."""
    return found / "node_modules" / "@modelcontextprotocol" / name / "dist" / "index.js"


def _complete(found: Path) -> bool:
    return all(program(found, name).is_file() for name in SERVERS)
