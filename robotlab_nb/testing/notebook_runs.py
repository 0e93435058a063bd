"""Running a notebook's cells in a test, with its tape in place of every model.

The files that ``export-checks`` writes use it. Cells run as they would in a kernel, one after
another in one namespace, without IPython; the magics of this package mean what they mean there.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import linecache
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.config import options
from ..core.errors import InputError
from ..lab.cell_code import read_cell
from ..lab.checked_code import check_code
from ..lab.checking import collected
from ..models.taping import only_played, tape

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from types import TracebackType

    from ..lab.cell_code import CellCode
    from ..lab.checking import Check

__all__ = ["NotebookRun"]


class NotebookRun:
    """The cells of a notebook, run once, and the checks that they made.

    Use it in a ``with`` block: the cells run when it is entered. A cell that raises ends the run;
    checks that were made before it stand.

    Parameters
    ----------
    cells : mapping of int to str
        Sources by number, in order.
    folder : str or path
        The working folder meanwhile.
    name : str, optional
        The notebook, for tracebacks.
    tape : str or path, optional
        The tape that is played where the cells name none. All tapes are played, none recorded.
    may_raise : collection of int, optional
        Cells whose error ends nothing.

    Attributes
    ----------
    checks : list of Check
    error : Exception or None
        What ended the run, and in which cell.

    Examples
    --------
    >>> cells = {1: "import robotlab_nb as rl", 2: "rl.check(2 + 2 == 4, name='sums')"}
    >>> with NotebookRun(cells, ".") as run:
    ...     run.assert_passed(cell=2, line=1)
    """

    def __init__(
        self,
        cells: Mapping[int, str],
        folder: str | os.PathLike[str],
        *,
        name: str = "notebook",
        tape: str | os.PathLike[str] | None = None,
        may_raise: Collection[int] = (),
    ) -> None:
        self.cells = dict(cells)
        self.folder = Path(folder).resolve()
        self.name = name
        self.tape = tape
        self.may_raise = frozenset(may_raise)
        self.checks: list[Check] = []
        self.error: Exception | None = None
        self.failed_cell: int | None = None
        self.namespace: dict[str, Any] = {
            "__name__": "__main__",
            "display": lambda *things, **_: [repr(thing) for thing in things],
        }
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> NotebookRun:
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.chdir(self.folder))
            stack.enter_context(only_played())
            stack.enter_context(options(**self._options(stack)))
            self.checks = stack.enter_context(collected())
            # Last: what runs on the loop has the context of here.
            self._loop = stack.enter_context(asyncio.Runner())
            self._run()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _options(self, stack: contextlib.ExitStack) -> dict[str, Any]:
        """The tape, and a log of its own where the cells look at one."""
        found: dict[str, Any] = {"log": None}
        if any(re.search(r"\blog\b", source) for source in self.cells.values()):
            folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            found["log"] = os.path.join(folder, "log.sqlite")
        if self.tape is not None:
            found["tape"] = tape(self.tape, mode="strict")
        return found

    def _run(self) -> None:
        for number, source in self.cells.items():
            try:
                self._cell(number, read_cell(source))
            except Exception as error:
                if number not in self.may_raise:
                    self.error, self.failed_cell = error, number
                    return

    def _cell(self, number: int, code: CellCode) -> None:
        if code.refused:
            raise InputError(f"cell {number} cannot be run: {code.refused[0]}")
        if code.magic == "robot_check":
            check_code(code.line, code.body, self.namespace, place=(self._file(number), 0))
        elif code.magic == "robot":
            self._ask(code)
        elif code.magic == "prompt":
            self._keep_prompt(code)
        else:
            self._python(number, code.body)

    def _python(self, number: int, source: str) -> None:
        file = self._file(number)
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code = compile(source, file, "exec", flags, dont_inherit=True)
        if code.co_flags & inspect.CO_COROUTINE:
            self._loop.run(eval(code, self.namespace))
        else:
            exec(code, self.namespace)

    def _file(self, number: int) -> str:
        return f"<{self.name}, cell {number}>"

    def _ask(self, code: CellCode) -> None:
        """What ``%%robot`` does."""
        from ..notebook.magic_line import ROBOT, read
        from ..notebook.magic_names import checked_name, filled, member
        from ..robot.robot import build

        given = read(code.line, ROBOT, usage="%%robot [NAME] [flags]")
        if given["help"] or given["dry"]:
            return
        space = self.namespace
        name = given["name"]
        who: Any = build("assistant") if name is None else member(name, space, otherwise="")
        message = code.body.strip("\n")
        if not given["literal"]:
            message = filled(message, space, where="%%robot", hidden={"display"})
        level = None if given["model"] is None else {"model": given["model"]}
        context = None if given["context"] is None else space[given["context"]]
        made = who.run(message, context=context, config=level)
        if given["out"] is not None:
            space[checked_name(given["out"], "-o")] = made

    def _keep_prompt(self, code: CellCode) -> None:
        """What ``%%prompt`` does."""
        from ..notebook.magic_line import PROMPT, read
        from ..notebook.magic_names import checked_name
        from ..prompts.templates import Template

        given = read(code.line, PROMPT, usage="%%prompt NAME")
        if not given["help"]:
            name = checked_name(given["name"] or given["out"], "%%prompt")
            text = code.body.strip("\n")
            self.namespace[name] = text if given["text"] else Template(text, name)

    # -- what tests ask --------------------------------------------------------------------

    def assert_passed(self, cell: int, line: int = 0) -> None:
        """Raise unless every check that a call made has passed.

        Parameters
        ----------
        cell, line : int
            Where the call begins; line 0 for a ``%%robot_check`` cell.

        Raises
        ------
        AssertionError
            When one failed, or none was made.
        """
        __tracebackhide__ = True
        last = self._last_line(cell, line)
        made = [
            check
            for check in self.checks
            if check.place[0] == self._file(cell) and line <= check.place[1] <= last
        ]
        for check in made:
            check.assert_passed()
        if made:
            return
        if self.error is not None:
            raise AssertionError(
                f"the check in cell {cell} was not reached: cell {self.failed_cell} of {self.name}"
                f"{self._at()} raised {type(self.error).__name__}: {self.error}"
            ) from None
        raise AssertionError(f"the check in cell {cell} of {self.name} was not made")

    def _at(self) -> str:
        """The line of the cell that raised."""
        file, found = self._file(self.failed_cell or 0), ""
        traceback = None if self.error is None else self.error.__traceback__
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == file:
                found = f", line {traceback.tb_lineno},"
            traceback = traceback.tb_next
        return found

    def _last_line(self, cell: int, line: int) -> int:
        code = read_cell(self.cells[cell])
        ends = [
            node.end_lineno or node.lineno
            for node in ast.walk(ast.parse(code.body))
            if isinstance(node, ast.Call) and node.lineno == line
        ]
        return max(ends, default=line)
