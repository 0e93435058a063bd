"""What an experiment is as tables and files: a row for each cell, grids, variants in order."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..frames.log_frames import DataFrame
    from .cell import Cell

__all__ = ["Tabulated"]


class Tabulated:
    """Mixin of an experiment: its tables."""

    __slots__ = ()

    if TYPE_CHECKING:
        name: Any
        axes: Any
        score_names: Any

        @property
        def cells(self) -> Sequence[Cell]:
            """All cells, in the order of the plan."""
            ...

        def to_html(self, path: Any = None) -> Any:
            """One page that shows this anywhere."""

        def to_dict(self) -> dict[str, Any]:
            """The whole of it as JSON."""
            ...

    @property
    def frame(self) -> DataFrame:
        """A table with a row for each cell: its place, the answer, what it took, scores, rating."""
        from ..frames.experiments import cells_table

        found: DataFrame = cells_table(self.cells, self.axes)
        found.attrs["experiment"] = self.name
        return found

    def pivot(
        self,
        values: str = "text",
        index: str | Sequence[str] = "input",
        columns: str | Sequence[str] = ("prompt", "model"),
    ) -> DataFrame:
        """A table of one column of :attr:`frame`, by axes.

        Parameters
        ----------
        values : str, optional
            A column of ``frame``. Of several cells in one place numbers are averaged, and of texts
            the first one stands.
        index, columns : str or list of str, optional
            Axes; those with one value alone are left out of the columns.

        Raises
        ------
        InputError
            When there is no such column.
        """
        from ..frames.experiments import pivoted

        found: DataFrame = pivoted(self.frame, self.axes, values, index, columns)
        return found

    def best(self, by: str | None = None) -> dict[str, Any]:
        """The prompt and model (and further values) that did best.

        Parameters
        ----------
        by : str, optional
            An evaluator's name, ``rating``, or a column of ``frame``: of ``cost_usd``,
            ``duration_s`` and tokens less is better. Left out: the first evaluator, else ratings.

        Returns
        -------
        dict
            Its values on the axes, the ``mean`` and how many cells it is ``of``.

        Raises
        ------
        InputError
            When there is nothing to go by.
        """
        from ..frames.experiments import ranked

        found = ranked(self.frame, self.axes, by, self.score_names)
        return found[0]

    def export(
        self, path: str | os.PathLike[str], *, overwrite: bool = False, formulas: bool = False
    ) -> Path:
        """Write it to a file of the kind that its name asks for, whole or not at all.

        Parameters
        ----------
        path : str or path
            ``.csv`` and ``.parquet``: the table of cells; ``.json``: all of it, for
            ``Experiment.from_dict``; ``.html``: one page to read.
        overwrite : bool, optional
            Whether a file that is there is replaced.
        formulas : bool, optional
            In CSV, a text that a spreadsheet would take for a formula gets an apostrophe before
            it; True leaves it.

        Returns
        -------
        Path

        Raises
        ------
        ConfigurationError
            When it is there already, its kind is not known, or it cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> import robotlab_nb as rl
        >>> sums = rl.SimulatedModel(lambda request: "=1+1")
        >>> tried = rl.compare(["Add."], sums, ["1 and 1"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     made = tried.export(f"{folder}/cells.csv").read_text()
        >>> "'=1+1" in made
        True
        """
        where = Path(os.path.expanduser(os.fspath(path)))
        kind = where.suffix.lower()
        if kind not in (".csv", ".parquet", ".json", ".html"):
            raise ConfigurationError(
                f"an experiment is not written as {kind or 'a file without an ending'!r:.20}",
                hint="Name a .csv, .parquet, .json or .html file.",
            )
        if where.exists() and not overwrite:
            raise ConfigurationError(
                f"{str(where)!r:.200} is there already", hint="Pass overwrite=True to replace it."
            )
        beside = where.with_name(f".{where.name}.{os.getpid()}.part")
        try:
            self._write(beside, kind, formulas)
            os.replace(beside, where)
        except OSError as error:
            raise ConfigurationError(
                f"{str(where)!r:.200} cannot be written: {error.strerror or error}"
            ) from error
        finally:
            beside.unlink(missing_ok=True)
        return where

    def _write(self, path: Path, kind: str, formulas: bool) -> None:
        from ..frames.experiments import write_table

        if kind == ".html":
            path.write_text(str(self.to_html()), "utf-8")
        elif kind == ".json":
            path.write_text(json.dumps(self.to_dict()), "utf-8")
        else:
            write_table(self.frame, path, as_csv=kind == ".csv", formulas=formulas)
