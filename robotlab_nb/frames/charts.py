"""A chart that keeps to the notebook: its bundle, and the look that goes with light and dark.

altair is imported when a chart is made; it comes with ``robotlab_nb[plot]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError
from ..core.readings import reading, text

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pandas import DataFrame

__all__ = ["HUES", "Plot", "altair", "records"]

#: what JupyterLab, VS Code and others draw themselves, without fetching anything
MIME = "application/vnd.vegalite.v5+json"
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
#: legible on white and on black
INK = "#7b7b7b"
#: hues that can be told apart on white and on black
HUES = ("#3c9cec", "#977537", "#bb4cad", "#75a319", "#6b6bf4", "#3f9981", "#f85383", "#9f8eb9")
_TEXT = {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12,
         "titleFontWeight": "normal"}  # fmt: skip
CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None, "continuousWidth": 480, "discreteWidth": 480},
    "axis": {**_TEXT, "domainColor": INK, "tickColor": INK, "gridColor": INK, "gridOpacity": 0.2,
             "labelLimit": 220},
    "legend": {**_TEXT, "symbolStrokeColor": INK},
    "title": {"color": INK, "subtitleColor": INK, "anchor": "start", "fontSize": 13,
              "subtitleFontSize": 11, "offset": 8},
    "range": {"category": list(HUES)},
}  # fmt: skip
#: the menu of a chart: saving it, and nothing that leads to another site
EMBED = {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}


def altair() -> Any:
    """The package that describes charts.

    Raises
    ------
    ConfigurationError
        When it is not installed.
    """
    try:
        import altair as found
    except ImportError:
        raise ConfigurationError(
            "charts need altair, which is not installed",
            hint='pip install "robotlab-nb[plot]"; without it, log.costs(), log.latency() and '
            "log.tools() give the same as tables.",
        ) from None
    return found


class Plot:
    """A chart and the table that it shows. You get one from ``log.plots``.

    JupyterLab, Notebook 7 and VS Code draw it themselves and fetch nothing; elsewhere its table is
    shown as text.

    Attributes
    ----------
    title : str
    data : DataFrame
    columns : list of str
        Those of them that the chart shows.
    chart : altair.Chart
        To go on with. Shown by itself, altair loads its drawing code from the network.
    """

    def __init__(self, title: str, data: DataFrame, chart: Any, columns: Sequence[str]) -> None:
        self.title = title
        self.data = data
        self.columns = list(columns)
        self.chart = chart

    @property
    def spec(self) -> dict[str, Any]:
        """The chart as Vega-Lite's JSON, its data inside."""
        made: dict[str, Any] = self.chart.to_dict()
        made["$schema"] = SCHEMA
        made["config"] = {**made.get("config", {}), **CONFIG}
        made["usermeta"] = {"embedOptions": EMBED}
        return made

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        # No HTML: a host that has both would show that, and draw nothing.
        found: dict[str, Any] = {"text/plain": text(self)}
        try:
            found[MIME] = self.spec
        except Exception as error:
            found["text/plain"] += f"\nThe chart could not be made ({type(error).__name__})."
        return found, {MIME: {"embed_options": EMBED}}

    def __repr__(self) -> str:
        return text(self)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | Path:
        """The chart's table as a page that needs no network; ``chart.save(…)`` saves the chart.

        Parameters
        ----------
        path : str or path, optional
            Where to write it.
        """
        made: str | Path = reading("page")(self, path)
        return made


def records(table: DataFrame) -> list[dict[str, Any]]:
    """A table's rows as JSON: what is missing is null, times are text.

    Examples
    --------
    >>> import pandas as pd
    >>> records(pd.DataFrame({"n": pd.array([1, None], dtype="Int64")}))
    [{'n': 1}, {'n': None}]
    """
    names = [str(name) for name in table]
    columns = [[_plain(value) for value in table[name]] for name in table]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _plain(value: Any) -> Any:
    import pandas as pd

    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return None
    if isinstance(value, pd.Timestamp):
        return value.isoformat()
    return value.item() if hasattr(value, "item") else value


def rows_of(values: Sequence[Mapping[str, Any]]) -> Any:
    """Rows as a chart's data, inside the chart."""
    return altair().Data(values=[dict(row) for row in values])
