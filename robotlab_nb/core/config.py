"""Settings: what can be set, where a value came from, and how levels overlay each other.

Levels are sparse: each holds only what was set there. From the weakest: the defaults below,
``rl.options``, a robot's ``config=``, its keywords, the run's. Networks, templates and tasks
add levels of their own between these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import ConfigurationError, UnknownKeyword, near
from .fields import FIELDS, NONE_IS_A_VALUE, Settings
from .keywords import ListedSettings
from .pickling import Guarded, refuse_secrets
from .readings import Pictured
from .secrets import redact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Unpack

__all__ = ["FIELDS", "Effective", "Options", "RunConfig", "Setting", "options", "resolve"]

DEFAULTS: dict[str, Any] = {name: field.default for name, field in FIELDS.items()}


def check(name: str, value: Any, where: str) -> Any:
    """Check one setting and return it.

    Raises
    ------
    UnknownKeyword
        When there is no such setting; the near one is named.
    ConfigurationError
        When the value has the wrong type or is out of bounds.
    """
    field = FIELDS.get(name)
    if field is None:
        raise UnknownKeyword(f"{where} has no setting {name!r}", hint=near(name, FIELDS))
    if value is None:
        return None
    if field.types != (object,) and (
        not isinstance(value, field.types) or (isinstance(value, bool) and bool not in field.types)
    ):
        kinds = " or ".join(t.__name__ for t in field.types)
        raise ConfigurationError(f"{where}: {name} takes {kinds}, not {value!r}", hint=field.doc)
    if field.words and value not in field.words:
        raise ConfigurationError(
            f"{where}: {name} is one of {', '.join(map(repr, field.words))}, not {value!r}",
            hint=field.doc,
        )
    if field.low is not None and value < field.low:
        raise ConfigurationError(
            f"{where}: {name} is at least {field.low:g}, not {value!r}", hint=field.doc
        )
    return value


class RunConfig(Pictured, Mapping[str, Any]):
    """A sparse set of settings, immutable. ``None`` unsets, unless it means "no limit".

    Parameters
    ----------
    **fields
        Any of the settings that ``help(rl.RunConfig)`` lists; an unknown name is an error.

    Examples
    --------
    >>> base = RunConfig(temperature=0.2, max_tokens=100)
    >>> base.merge(temperature=0.9)
    RunConfig(max_tokens=100, temperature=0.9)
    >>> RunConfig(temprature=0.2)
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.UnknownKeyword: RunConfig has no setting 'temprature'. Did you mean \
'temperature'?
    """

    __slots__ = ("_set",)

    def __init__(self, **fields: Unpack[Settings]) -> None:
        self._set: dict[str, Any] = {
            name: check(name, value, "RunConfig")
            for name, value in fields.items()
            if value is not None or name in NONE_IS_A_VALUE or name not in FIELDS
        }

    @classmethod
    def of(cls, value: RunConfig | Mapping[str, Any] | None) -> RunConfig:
        """A RunConfig from one, from a mapping, or from None."""
        if value is None:
            return cls()
        if isinstance(value, RunConfig):
            return value
        if not isinstance(value, Mapping):
            raise ConfigurationError(
                f"config= takes a RunConfig or a dict, not {value!r}",
                hint="For example rl.RunConfig(temperature=0).",
            )
        return cls(**value)

    def merge(self, other: Mapping[str, Any] | None = None, /, **fields: Any) -> RunConfig:
        """A new RunConfig in which later values win."""
        return RunConfig(**{**self._set, **dict(other or {}), **fields})

    def __getitem__(self, name: str) -> Any:
        return self._set[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._set))

    def __len__(self) -> int:
        return len(self._set)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        return f"RunConfig({', '.join(f'{k}={plain(k, self._set[k])!r}' for k in self)})"

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON: live objects by their names, keys left out."""
        return {k: plain(k, v) for k, v in self.items()}

    def __reduce__(self) -> Any:
        # A pickle has the name of a key's variable, never the key.
        kept = {k: v for k, v in self._set.items() if k != "api_key" or key_name_only(v)}
        refuse_secrets("a RunConfig", kept)
        return _run_config, (kept,)


def _run_config(fields: dict[str, Any]) -> RunConfig:
    return RunConfig(**fields)


def plain(name: str, value: Any) -> Any:
    """A setting as JSON: live objects by their names, a key never shown."""
    if name == "api_key":
        return "(set)" if value else None
    if isinstance(value, str):
        return redact(without_password(value) if name == "log" else value)
    if value is None or isinstance(value, (int, float, bool)):
        return value
    if name == "mcp":  # an environment or headers may hold keys
        return [plain("", v.get("name") if isinstance(v, Mapping) else v) for v in value]
    if value is ...:
        return "..."
    if isinstance(value, Mapping):
        return {str(k): plain("", v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain("", v) for v in value]
    own = getattr(value, "name", None) or getattr(value, "__qualname__", None)
    return own if isinstance(own, str) else type(value).__name__


def without_password(address: str) -> str:
    """An address as it may be shown: without the password of its user.

    Examples
    --------
    >>> without_password("postgresql://ann:hunter2@db/runs?password=hunter2")
    'postgresql://ann:***@db/runs?password=***'
    """
    shown = re.sub(r"(://[^:/@]*):.*@", r"\1:***@", address)
    return re.sub(r"([?&]password=)[^&]*", r"\1***", shown)


def key_name_only(value: Any) -> str | None:
    """The name of the environment variable that a key is to come from; None for a key itself."""
    if isinstance(value, str) and value.isupper() and value.isidentifier():
        return value
    return None


class Setting(NamedTuple):
    """A value in force, and the level that set it."""

    value: Any
    origin: str


class Effective(Guarded, Pictured, Mapping[str, Setting]):
    """What is in force: every setting with its value and origin.

    Examples
    --------
    >>> found = resolve([("options", {"temperature": 1.0}), ("robot", {"temperature": 0.2})])
    >>> found["temperature"]
    Setting(value=0.2, origin='robot')
    >>> found["attempts"]
    Setting(value=3, origin='default')
    """

    __slots__ = ("_told", "origins", "values_")

    def __init__(self, values: dict[str, Any], origins: dict[str, str]) -> None:
        #: the bare values, for the engine
        self.values_ = values
        self.origins = origins
        self._told: dict[str, Any] | None = None

    def told(self) -> dict[str, Any]:
        """What was set, as JSON: ``{"value", "origin"}`` by name. Made once."""
        if self._told is None:
            self._told = {
                name: {"value": plain(name, self.values_[name]), "origin": origin}
                for name, origin in self.origins.items()
            }
        return self._told

    def __getitem__(self, name: str) -> Setting:
        value = self.values_[name]
        if name == "api_key":
            value = key_name_only(value) or plain(name, value)  # never the key itself
        return Setting(value, self.origins.get(name, "default"))

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.values_)

    def __repr__(self) -> str:
        shown = (f"{k}={plain(k, self.values_[k])!r} ({self.origins[k]})" for k in self.origins)
        return f"<{', '.join(shown) or 'defaults'}>"


def resolve(levels: Iterable[tuple[str, Mapping[str, Any]]]) -> Effective:
    """Overlay levels, weakest first, over the defaults.

    Parameters
    ----------
    levels : iterable of (origin, mapping)
    """
    values = dict(DEFAULTS)
    origins: dict[str, str] = {}
    for origin, level in levels:
        for name, value in level.items():
            values[name] = value
            origins[name] = origin
    return Effective(values, origins)


class Options(Pictured):
    """Settings for the whole process: the weakest level that a person sets.

    Assign attributes, or use it as a context manager for a while.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> with rl.options(temperature=0.5):
    ...     rl.build("a").effective_config["temperature"]
    Setting(value=0.5, origin='options')
    >>> rl.options.temprature = 1
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.UnknownKeyword: options has no setting 'temprature'. Did you mean \
'temperature'?
    """

    __signature__ = ListedSettings()

    def __init__(self) -> None:
        object.__setattr__(self, "_set", {})
        object.__setattr__(self, "_outside", None)
        object.__setattr__(self, "version", 0)

    _set: dict[str, Any]
    #: what files and the environment say; None until they were read
    _outside: list[tuple[str, Mapping[str, Any]]] | None
    #: counts changes, so that what was derived from the options is known to be stale
    version: int

    def __getattr__(self, name: str) -> Any:
        if name in FIELDS:
            found = FIELDS[name].default
            for _, level in self.levels():
                found = level.get(name, found)
            return found
        raise AttributeError(f"options has no setting {name!r}. {near(name, FIELDS)}")

    def __setattr__(self, name: str, value: Any) -> None:
        check(name, value, "options")
        self._replace({**self._set, name: value})

    def __delattr__(self, name: str) -> None:
        check(name, None, "options")
        self._replace({k: v for k, v in self._set.items() if k != name})

    def __dir__(self) -> list[str]:
        return sorted([*FIELDS, "describe", "levels", "reload"])

    def describe(self, name: str) -> str:
        """What an option means, what it takes, what holds now, and who says so.

        Parameters
        ----------
        name : str

        Examples
        --------
        >>> print(options.describe("attempts"))
        attempts: Most requests for one model call. Takes int, at least 1. Now 3 (default).
        """
        check(name, None, "options")
        field, found = FIELDS[name], resolve(self.levels())[name]
        kinds = " or ".join(kind.__name__ for kind in field.types if kind is not object)
        takes = " or ".join(map(repr, field.words)) or kinds
        low = f", at least {field.low:g}" if field.low is not None else ""
        told = f" Takes {takes}{low}." if takes else ""
        return f"{name}: {field.doc}{told} Now {plain(name, found.value)!r} ({found.origin})."

    def __call__(self, **fields: Any) -> _OptionsFor:
        """Set options until the ``with`` block ends."""
        checked = {k: check(k, v, "options") for k, v in fields.items()}
        return _OptionsFor(self, checked)

    def _replace(self, values: dict[str, Any]) -> None:
        object.__setattr__(self, "_set", values)
        object.__setattr__(self, "version", self.version + 1)

    def level(self) -> Mapping[str, Any]:
        """What was assigned here."""
        return self._set

    def levels(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The levels beneath all others, weakest first: files, environment, what was assigned.

        Files and environment are read at the first use and by :meth:`reload`.
        """
        if self._outside is None:
            self.reload()
        return [*(self._outside or ()), ("options", self._set)]

    def reload(self) -> Options:
        """Read the option files and the environment again.

        Raises
        ------
        ConfigurationError
            When something in them cannot be meant; it names file and line, or the variable.
        """
        from .option_files import load

        object.__setattr__(self, "_outside", load())
        object.__setattr__(self, "version", self.version + 1)
        return self

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={plain(k, v)!r}" for k, v in sorted(self._set.items()))
        return f"options({shown})"


class _OptionsFor:
    def __init__(self, options: Options, values: dict[str, Any]) -> None:
        self._options = options
        self._values = values
        self._before: list[Mapping[str, Any]] = []

    def __enter__(self) -> Options:
        self._before.append(dict(self._options.level()))
        self._options._replace({**self._options.level(), **self._values})
        return self._options

    def __exit__(self, *_: Any) -> None:
        self._options._replace(dict(self._before.pop()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={plain(k, v)!r}" for k, v in self._values.items())
        lasting = "; ".join(f"rl.options.{k} = …" for k in self._values)
        return f"<not set: write `with rl.options({shown}):` for a while, or {lasting} for good>"


#: the process's options
options = Options()
