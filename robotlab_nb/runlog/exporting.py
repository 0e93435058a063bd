"""Runs out of a log into files: a part of :class:`~robotlab_nb.runlog.opened.Log`."""

from __future__ import annotations

import contextlib
import os
from functools import partial
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, InputError, near
from ..core.keywords import strict_keywords
from .asking import Asking
from .event_lines import head, line, rating_line, tag_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .store import Store

__all__ = ["Exporting"]

ENDINGS = (".parquet", ".csv", ".jsonl", ".html")


class Exporting(Asking):
    """The part of a log that this module adds; it reads ``store`` and ``query``."""

    @strict_keywords
    def export(
        self,
        path: str | os.PathLike[str],
        *,
        table: str | None = None,
        overwrite: bool = False,
        formulas: bool = False,
    ) -> Path:
        """Write the runs that are meant to a file of the kind that its name asks for.

        Written whole or not at all, some runs at a time: a log may be larger than memory. Keys
        that are registered by now are masked.

        Parameters
        ----------
        path : str or path
            ``.jsonl``: all events of the runs, with the whole roots that they belong to; another
            log takes it in with :meth:`~robotlab_nb.runlog.opened.Log.import_`. ``.csv`` and
            ``.parquet``: one table. ``.html``: one page to read, which needs nothing else. A
            name without an ending: a folder with a Parquet file for each table.
        table : str, optional
            Which table, ``"runs"`` when left out; see ``frames``.
        overwrite : bool, optional
            Whether a file that is there is replaced.
        formulas : bool, optional
            In CSV, a text that a spreadsheet would take for a formula gets an apostrophe before
            it; True leaves it.

        Returns
        -------
        Path
            Where it was written.

        Raises
        ------
        ConfigurationError
            For another kind of file, and when it is there or cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> import robotlab_nb as rl
        >>> folder = tempfile.TemporaryDirectory()
        >>> with rl.options(log=f"{folder.name}/log.sqlite"):
        ...     result = rl.build("poet", model=rl.SimulatedModel(["roses"])).run("a poem")
        ...     made = rl.log.where(robot="poet").export(f"{folder.name}/poems.csv")
        >>> made.read_text("utf-8").partition(",")[0]
        'run_id'
        >>> folder.cleanup()
        """
        from ..frames.columns import TABLES

        target = Path(path).expanduser()
        ending = target.suffix.lower()
        if ending and ending not in ENDINGS:
            raise ConfigurationError(
                f"no runs are written to {target.name!r}",
                hint=f"{near(ending, ENDINGS)} Known endings: {', '.join(ENDINGS)}.",
            )
        if table is not None and table not in TABLES:
            raise InputError(f"there is no table {table!r}", hint=near(str(table), TABLES))
        if table is not None and ending in (".jsonl", ".html"):
            raise ConfigurationError(
                f"table= has no meaning for {target.name!r}",
                hint="Tables are written as .csv or .parquet.",
            )
        if not ending:
            names = TABLES if table is None else (table,)
            return _folder(self, target, tuple(names), overwrite)
        kept = table or "runs"
        writers: dict[str, Callable[[Path], Any]] = {
            ".jsonl": lambda file: _events(self, file),
            ".csv": lambda file: _csv(self, kept, file, formulas),
            ".parquet": lambda file: _parquet(self, kept, file),
            ".html": lambda file: _page(self, file),
        }
        return _whole(target, overwrite, writers[ending])


def _folder(log: Asking, target: Path, names: tuple[str, ...], overwrite: bool) -> Path:
    """A folder with a file for each table. What else is in it stays."""
    files = [target / f"{name}.parquet" for name in names]
    for file in files:
        _refuse(file, overwrite)
    try:
        target.mkdir(exist_ok=True)
    except OSError as error:
        raise _unwritable(target, error) from error
    for name, file in zip(names, files, strict=True):
        _whole(file, True, partial(_parquet, log, name))
    return target


def _whole(target: Path, overwrite: bool, write: Callable[[Path], Any]) -> Path:
    """Write a file whole or not at all: under another name first."""
    _refuse(target, overwrite)
    whole = target.resolve()
    fresh = whole.with_name(f".{whole.name[:80]}.{token_hex(4)}.new")
    try:
        try:
            write(fresh)
            if overwrite:
                fresh.replace(whole)
            else:
                _put(fresh, whole)
        finally:
            fresh.unlink(missing_ok=True)
    except FileExistsError:
        _refuse(target, overwrite)
        raise
    except OSError as error:
        raise _unwritable(target, error) from error
    return target


def _put(fresh: Path, whole: Path) -> None:
    """Give a file its name, if nobody has taken it meanwhile."""
    with contextlib.suppress(OSError):
        os.link(fresh, whole)
        return
    if whole.exists():
        raise FileExistsError(whole)
    fresh.replace(whole)


def _refuse(target: Path, overwrite: bool) -> None:
    if target.is_dir():
        raise ConfigurationError(f"{str(target)!r} is a folder", hint="Name a file in it.")
    if target.exists() and not overwrite:
        raise ConfigurationError(
            f"{str(target)!r} is there already",
            hint="Choose another name, or replace it with overwrite=True.",
        )


def _unwritable(target: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(
        f"{str(target)!r} cannot be written: {error.strerror or type(error).__name__}",
        hint=f"Is there a folder {str(target.parent)!r}, and may you write there?",
    )


# -- the kinds of file -----------------------------------------------------------------------


def _source(log: Asking) -> Any:
    from .log_source import LogSource

    return LogSource(log.store, log.query)


def _events(log: Asking, file: Path) -> None:
    source, store = _source(log), log.store
    with file.open("w", encoding="ascii", newline="\n") as out:
        out.write(head(source.query, rated=store is not None and bool(store.ratings())))
        if store is None:
            return
        for roots in _some(store.root_ids(log.query)):
            tags, ratings = _tags(store, roots), store.ratings_in(roots)
            for root_id, events in groupby(store.events(roots), key=attrgetter("scope.root_id")):
                out.writelines(map(line, events))
                if root_id in tags:
                    out.write(tag_line(tags[root_id]))
                if root_id in ratings:
                    out.write(rating_line(ratings[root_id]))


def _some(root_ids: Iterable[str]) -> Iterator[list[str]]:
    """Roots, a few hundred at a time."""
    left = iter(root_ids)
    while some := list(islice(left, 200)):
        yield some


def _tags(store: Store, roots: list[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Root -> the tags of its runs, where they have any."""
    from .conditions import Where

    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in store.select(Where(root_id=roots, tag="*")):
        if row.tags:
            found.setdefault(row.root_id, {})[row.run_id] = row.tags
    return found


def _csv(log: Asking, table: str, file: Path, formulas: bool) -> None:
    from ..frames.table_files import write_csv

    write_csv(_source(log), table, file, formulas=formulas)


def _parquet(log: Asking, table: str, file: Path) -> None:
    from ..frames.table_files import write_parquet

    write_parquet(_source(log), table, file)


def _page(log: Asking, file: Path) -> None:
    from ..core.readings import reading
    from .listing import RunsPage

    reading("page")(RunsPage(log), file)
