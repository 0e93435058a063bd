"""Where a log is: what a person names, as an address, and what of that may be shown."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from ..core.config import without_password
from ..core.errors import ConfigurationError
from ..core.option_files import shown_path

__all__ = ["Target", "default_path", "target_of"]

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_SCHEMES = frozenset({"postgresql", "postgres", "postgresql+psycopg"})


class Target(NamedTuple):
    """Where a log is: its address, and what may be shown of it."""

    address: str
    shown: str

    @property
    def is_file(self) -> bool:
        """Whether it is a file, and no database server."""
        return "://" not in self.address

    def identity(self) -> object:
        """What tells a file from another that was put in its place; None where there is none."""
        if not self.is_file:
            return self.address
        try:
            found = os.stat(self.address)
        except OSError:
            return None
        return found.st_dev, found.st_ino


def default_path() -> Path:
    """The file in which runs are kept if nobody says otherwise."""
    from platformdirs import user_data_path

    return user_data_path("robotlab_nb", appauthor=False) / "log.sqlite"


def target_of(where: Any) -> Target:
    """The log that a path, a URL, or True for the usual one, stands for.

    Raises
    ------
    ConfigurationError
        When no log can be there.

    Examples
    --------
    >>> target_of("postgresql://ann:hunter2@db/runs").shown
    'postgresql://ann:***@db/runs'
    """
    if where is True:
        path = default_path()
        return Target(str(path), shown_path(path))
    try:
        text = os.fspath(where)
    except TypeError:
        text = None
    if not isinstance(text, str) or not text.strip():
        raise ConfigurationError(
            f"a log cannot be at {where!r:.80}",
            hint="Name a file or a PostgreSQL URL; None keeps no log.",
        )
    scheme = _URL.match(text)
    if scheme is None:
        path = Path(os.path.abspath(os.path.expanduser(text)))
        return Target(str(path), shown_path(path))
    if scheme[1].lower() not in _SCHEMES:
        raise ConfigurationError(
            f"a log cannot be at {without_password(text)!r:.120}: "
            f"{scheme[1]} is no database that it knows",
            hint="Use a path for SQLite, or postgresql://user@host/database.",
        )
    _mask_password(text)
    return Target(text, without_password(text))


def _mask_password(url: str) -> None:
    from urllib.parse import parse_qs, unquote, urlsplit

    from ..core.secrets import register

    split = urlsplit(url)
    for password in (split.password, *parse_qs(split.query).get("password", ())):
        if password:
            register(unquote(password), "password of the log")
