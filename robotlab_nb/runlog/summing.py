"""Figures over a log's runs: a part of :class:`~robotlab_nb.runlog.opened.Log`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..network.differing import Diff, diff
from .asking import Asking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..frames.log_frames import DataFrame
    from .log_source import LogSource

    By = str | Sequence[str] | None

__all__ = ["Summing"]


class Summing(Asking):
    """The part of a log that this module adds; it reads ``store`` and ``query``."""

    def summary(self, by: By = "robot") -> DataFrame:
        """What the runs that are meant came to: how many, how they ended, tokens, cost and time.

        Parameters
        ----------
        by : str or list of str, optional
            ``robot, task, network, model, prompt, session_id, status, day, tag``, or several of
            them; None gives one row for all. Runs that have none are a row of their own, without a
            name, so that costs add up to the whole. A run counts for each of its tags.

        Returns
        -------
        DataFrame
            ``runs, ok, failed, simulated, model_calls, input_tokens, output_tokens, cost_usd,
            cost_complete``; seconds of a run: ``mean_s, median_s, p95_s``; of a model call:
            ``first_token_median_s``; ``tool_calls, tool_failures``. Runs are those of robots; by
            ``network`` those of networks, with what was used inside.

        Examples
        --------
        >>> import tempfile
        >>> import robotlab_nb as rl
        >>> folder = tempfile.TemporaryDirectory()
        >>> with rl.options(log=f"{folder.name}/log.sqlite"):
        ...     poet = rl.build("poet", model=rl.SimulatedModel(["one", "two"]))
        ...     both = poet.run("count"), poet.run("count")
        ...     table = rl.log.summary(by="robot")
        >>> table[["robot", "runs", "ok", "failed", "simulated"]].to_dict("records")
        [{'robot': 'poet', 'runs': 2, 'ok': 2, 'failed': 0, 'simulated': 2}]
        >>> folder.cleanup()
        """
        from ..frames.summaries import summary

        return summary(self._source(), by)

    def costs(self, by: By = "robot") -> DataFrame:
        """What the model calls of these runs cost, dearest first.

        Parameters
        ----------
        by : str or list of str, optional
            As for :meth:`summary`, and ``provider``; a ``model`` is the one that answered.

        Returns
        -------
        DataFrame
            ``runs, model_calls``, how many of these were answered ``from_cache`` and how many were
            ``simulated``; tokens; ``cost_usd``, missing where no price is
            known; ``cost_complete``, False where some is not; ``share`` of the whole cost.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> with rl.options(log=None):
        ...     list(rl.log.costs(by="model"))[:4]
        ['model', 'runs', 'model_calls', 'from_cache']
        """
        from ..frames.summaries import costs

        return costs(self._source(), by)

    def latency(self, by: By = "model") -> DataFrame:
        """How long model calls took, and how fast words came; answers from the cache left out.

        Parameters
        ----------
        by : str or list of str, optional
            As for :meth:`summary`, and ``provider``; a ``model`` is the one that answered.

        Returns
        -------
        DataFrame
            ``model_calls``, how many were ``simulated``; seconds until the first piece:
            ``first_token_median_s, first_token_p95_s``; of the whole call: ``mean_s, median_s,
            p95_s, max_s``; ``waited_s`` for rate limits, on average; ``tokens_per_s``.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> with rl.options(log=None):
        ...     len(rl.log.latency(by=["robot", "model"]))
        0
        """
        from ..frames.summaries import latency

        return latency(self._source(), by)

    def tools(self, by: By = None) -> DataFrame:
        """How tools did: calls, and what share of them succeeded.

        Parameters
        ----------
        by : str or list of str, optional
            What besides the tool: as for :meth:`summary`, and ``source``.

        Returns
        -------
        DataFrame
            ``calls, ok, failed``; ``success`` between ``success_low`` and ``success_high``, where
            the true share lies in 95 of 100 such logs (Wilson's interval); ``retryable`` failures;
            ``runs``; ``median_s, p95_s``.

        Examples
        --------
        >>> import tempfile
        >>> import robotlab_nb as rl
        >>> def double(n: int) -> int:
        ...     "Twice a number."
        ...     return 2 * n
        >>> folder = tempfile.TemporaryDirectory()
        >>> with rl.options(log=f"{folder.name}/log.sqlite"):
        ...     clerk = rl.build("clerk", model=rl.SimulatedModel(), tools=[double])
        ...     result = clerk.run("double 4")
        ...     table = rl.log.tools()
        >>> table[["tool", "calls", "ok", "success"]].to_dict("records")
        [{'tool': 'double', 'calls': 1, 'ok': 1, 'success': 1.0}]
        >>> folder.cleanup()
        """
        from ..frames.summaries import tools

        return tools(self._source(), by)

    def errors(self) -> DataFrame:
        """What went wrong: errors that say the same together, most frequent first.

        Returns
        -------
        DataFrame
            ``where`` it was (a run, a task without a run, an attempt at a model call, a tool call),
            ``error_type``, ``pattern`` (what the messages have in common), ``count``, how many
            ``runs``, which ``robot`` and ``tool``, ``first_at`` and ``last_at``, and the latest as
            an ``example`` with its ``run_id``.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> with rl.options(log=None):
        ...     len(rl.log.errors())
        0
        """
        from ..frames.mishaps import errors

        return errors(self._source())

    def prompts(self) -> DataFrame:
        """Which system prompts were used, latest first; ``log.where(prompt=…)`` has their runs.

        Returns
        -------
        DataFrame
            ``prompt_hash``, ``prompt`` (missing where texts are not kept), ``runs, ok, failed``,
            ``robots`` and ``models``, ``cost_usd``, ``first_at``, ``last_at``.

        Examples
        --------
        >>> import tempfile
        >>> import robotlab_nb as rl
        >>> folder = tempfile.TemporaryDirectory()
        >>> with rl.options(log=f"{folder.name}/log.sqlite"):
        ...     poet = rl.build("poet", system_prompt="Rhyme.", model=rl.SimulatedModel("ok"))
        ...     result = poet.run("a poem")
        ...     table = rl.log.prompts()
        ...     found = len(rl.log.where(prompt="Rhyme."))
        >>> table[["prompt", "runs", "robots"]].to_dict("records"), found
        ([{'prompt': 'Rhyme.', 'runs': 1, 'robots': 'poet'}], 1)
        >>> folder.cleanup()
        """
        from ..frames.prompt_uses import prompts

        return prompts(self._source())

    def tags(self) -> DataFrame:
        """Which tags these runs have, most frequent first: ``tag, runs, first_at, last_at``.

        Examples
        --------
        >>> import tempfile
        >>> import robotlab_nb as rl
        >>> folder = tempfile.TemporaryDirectory()
        >>> with rl.options(log=f"{folder.name}/log.sqlite"):
        ...     rl.log.tag(rl.build("bob").run("Hello"), "good")
        ...     rl.log.tags()[["tag", "runs"]].to_dict("records")
        [{'tag': 'good', 'runs': 1}]
        >>> folder.cleanup()
        """
        from ..frames.prompt_uses import tags

        store = self.store
        if store is None:
            return tags([])
        from .overview import tagged

        return tags(tagged(store, self.query))

    def compare(self, a: Any, b: Any) -> Diff:
        """What is different between two runs: input, prompt, settings, answers, cost, time.

        Parameters
        ----------
        a, b : str, run or result
            A run's id or its first 6 digits, or anything that has events.

        Examples
        --------
        >>> import tempfile
        >>> import robotlab_nb as rl
        >>> folder = tempfile.TemporaryDirectory()
        >>> with rl.options(log=f"{folder.name}/log.sqlite"):
        ...     poet = rl.build("poet", model=rl.SimulatedModel(["roses are red", "roses fade"]))
        ...     a, b = poet.run("a poem").run_id, poet.run("a poem").run_id
        ...     print(rl.log.compare(a, b).text())
        roses [-are red-] {+fade+}
        >>> folder.cleanup()
        """
        first, second = (self.find(run) if isinstance(run, str) else run for run in (a, b))
        return diff(first, second)

    def _source(self) -> LogSource:
        from .log_source import LogSource

        return LogSource(self.store, self.query)
