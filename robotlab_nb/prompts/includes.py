"""Jinja for templates: what one may include, insert, and have expanded.

Files come from one folder and from nowhere else. What is included keeps its own parameters:
its head is dropped, and its defaults stand for what the including template does not have.
"""

from __future__ import annotations

import functools
import threading
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, RobotLabError
from .expansion import expand, places
from .parameters import fill
from .rendering import bounded, explain, sandbox
from .sources import confined, find, is_there, read_text, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import jinja2
    from jinja2.lexer import Token, TokenStream

    from .sources import Source

__all__ = ["Rendering", "compiled", "rendered"]

_FILTER = "_expanded"


@dataclass
class Rendering:
    """One rendering: what it is allowed, and which templates have included which.

    Attributes
    ----------
    shell, environment : bool
        What the options allow.
    literally : bool
        Whether places for commands and variables stay as they were written.
    """

    shell: bool = False
    environment: bool = False
    literally: bool = False
    #: the templates that take part, by what Jinja calls them
    sources: dict[str, Source] = field(default_factory=dict)
    _included: dict[str, set[str]] = field(default_factory=dict)

    def admit(self, source: Source, includer: str | None = None) -> None:
        """Let a template take part.

        Raises
        ------
        ConfigurationError
            When it asks for more than the options allow, or when templates include each other
            in a circle; the whole circle is named.
        """
        for name in ("shell", "environment"):
            if getattr(source.front, name) and not getattr(self, name):
                raise ConfigurationError(
                    f"{source.where()} asks for `{name}: true`, and the option allow_{name} is off",
                    hint=f"rl.options.allow_{name} = True allows it to templates that ask.",
                )
        self.sources[source.key] = source
        if includer is None:
            return
        self._included.setdefault(includer, set()).add(source.key)
        circle = self._way(source.key, includer, (source.key,))
        if circle:
            raise ConfigurationError(
                f"templates include each other: {' → '.join((includer, *circle))}",
                hint="Take one of these includes out.",
            )

    def _way(self, start: str, end: str, so_far: tuple[str, ...]) -> tuple[str, ...]:
        """The templates from one to another, along what includes what; () when none leads there."""
        if start == end:
            return so_far
        for name in sorted(self._included.get(start, ())):
            found = self._way(name, end, (*so_far, name)) if name not in so_far else ()
            if found:
                return found
        return ()

    def where(self, key: str) -> str:
        """A template's name and file, for errors."""
        source = self.sources.get(key)
        return f"template {key!r}" if source is None else source.where()


_now: ContextVar[Rendering] = ContextVar("rendering")


def rendered(source: Source, context: Mapping[str, Any], rendering: Rendering) -> str:
    """Render a template.

    Parameters
    ----------
    source : Source
    context : mapping
    rendering : Rendering
        A fresh one.

    Raises
    ------
    ConfigurationError
        For whatever goes wrong; it names the template, its file and, where it is known, the line.
    """
    rendering.admit(source)
    template = compiled(source)
    token = _now.set(rendering)
    try:
        return bounded(template.generate(context), source.where())
    except RobotLabError:
        raise
    except Exception as error:
        raise _explained(error, source, context, rendering) from error
    finally:
        _now.reset(token)


def compiled(source: Source) -> jinja2.Template:
    """A template's Jinja, compiled once.

    Raises
    ------
    ConfigurationError
        For a syntax error; it names file and line.
    """
    known = source.made.get("template")
    if known is None:
        from jinja2 import TemplateSyntaxError

        try:
            known = _environment(source.root).of(source)
        except TemplateSyntaxError as error:
            raise ConfigurationError(
                f"{source.where(error.lineno)}: {error.message}", hint="See the Jinja syntax."
            ) from None
        source.made["template"] = known
    return known  # type: ignore[no-any-return]


def _explained(
    error: Exception, source: Source, context: Mapping[str, Any], rendering: Rendering
) -> ConfigurationError:
    from jinja2 import TemplateNotFound

    at, trace = source.where(), error.__traceback__
    while trace is not None:  # the innermost line of a template
        of = rendering.sources.get(trace.tb_frame.f_code.co_filename)
        if of is not None:
            at = of.where(trace.tb_lineno)
        trace = trace.tb_next
    if isinstance(error, TemplateNotFound):
        return unknown(str(error.name), source.root, by=at)
    return explain(error, at, context)


@functools.lru_cache(maxsize=32)
def _environment(root: Path) -> Any:
    """The environment of a folder."""
    from jinja2 import StrictUndefined, pass_context

    @pass_context
    def insert(context: Any, name: str) -> str:
        by = _now.get().where(context.name)
        path = confined(str(name), root, by=by)
        if not is_there(path):
            raise ConfigurationError(
                f"{by}: there is no file {str(name)!r:.200} to insert", hint=f"Looked in {root}."
            )
        return read_text(path, f"{by}: {str(name)!r}")

    @pass_context  # which also keeps Jinja from working it out while it compiles
    def expanded(context: Any, place: str, key: str) -> str:
        now = _now.get()
        source = now.sources[key]
        if now.literally or place not in source.made["places"]:
            return place
        return expand(place, source.where())

    made = _environment_class()(
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        extensions=[_places_class()],
    )
    made.root = root
    made.globals["insert"] = insert
    made.filters[_FILTER] = expanded
    return made


@functools.cache
def _environment_class() -> Any:
    from jinja2 import Template, TemplateNotFound
    from jinja2.utils import missing

    class Compiled(Template):
        """A template that knows what it must be given, included or not."""

        source: Source

        def new_context(self, vars: Any = None, shared: bool = False, locals: Any = None) -> Any:
            given = dict(vars or {})
            given.update((k, v) for k, v in (locals or {}).items() if v is not missing)
            source = self.source
            values = fill(source.front.parameters, given, source.where())
            return super().new_context(values, shared, None)

    class Environment(sandbox()):  # type: ignore[misc]
        template_class = Compiled
        root: Path
        #: the template that is being compiled
        source: Source | None = None
        _one_at_a_time = threading.RLock()

        def of(self, source: Source) -> Any:
            with self._one_at_a_time:
                self.source = source
                code = self.compile(source.body, source.key, source.key)
                made = Compiled.from_code(self, code, self.make_globals(None))
            made.source = source  # type: ignore[attr-defined]
            return made

        def get_template(self, name: Any, parent: str | None = None, globals: Any = None) -> Any:
            now = _now.get()
            found = find(str(name), self.root, by=now.where(parent or ""))
            if found is None:
                raise TemplateNotFound(name)
            now.admit(found, parent)
            return compiled(found)

        def select_template(
            self, names: Any, parent: str | None = None, globals: Any = None
        ) -> Any:
            for name in names:
                try:
                    return self.get_template(name, parent)
                except TemplateNotFound:
                    continue
            raise TemplateNotFound(", ".join(map(str, names)))

    return Environment


@functools.cache
def _places_class() -> Any:
    from jinja2.ext import Extension
    from jinja2.lexer import Token

    class Places(Extension):
        """Turns what stands for a command or a variable into a call, as a template is compiled.

        It sees what lies between Jinja's tags and nothing else, and what comes of a place is
        never read as a template.
        """

        def filter_stream(self, stream: TokenStream) -> Iterator[Token] | TokenStream:
            source: Source = self.environment.source  # type: ignore[attr-defined]
            if not (source.front.shell or source.front.environment):
                return stream
            return self._with_places(stream, source)

        def _with_places(self, stream: TokenStream, source: Source) -> Iterator[Token]:
            known: set[str] = source.made.setdefault("places", set())
            front = source.front
            for token in stream:
                if token.type != "data":
                    yield token
                    continue
                line = token.lineno
                for stands_for, text in places(
                    token.value, shell=front.shell, environment=front.environment
                ):
                    if not stands_for:
                        yield Token(line, "data", text)
                    else:
                        known.add(text)
                        yield from (
                            Token(line, "variable_begin", "{{"), Token(line, "string", text),
                            Token(line, "pipe", "|"), Token(line, "name", _FILTER),
                            Token(line, "lparen", "("), Token(line, "string", source.key),
                            Token(line, "rparen", ")"), Token(line, "variable_end", "}}"),
                        )  # fmt: skip
                    line += text.count("\n")

    return Places
