"""Templates: Markdown files with a head, rendered with Jinja into what a model is told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.config import options, resolve
from ..core.errors import ConfigurationError
from ..core.readings import Pictured
from .includes import Rendering, compiled, rendered
from .parameters import missing
from .sources import find, has_changed, named, read_file, source_of, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .parameters import Parameter
    from .sources import Source

__all__ = ["Template", "load_template", "render_template"]


class Template(Pictured):
    """A text with blanks: what a model is told, and what a robot made of it is.

    The text is Markdown with an optional YAML head between two lines ``---``. HTML comments are
    left out of what the model is told; the rest is Jinja: ``{{ name }}``, ``{% if … %}``,
    ``{% include "other" %}`` for another template of the folder, ``{{ insert("data.csv") }}``
    for a file of it as it is. Python's insides cannot be reached, and no file outside the folder.

    The head says, all of it optional: ``robot_name``, ``description``, ``tools`` (names, globs,
    or ``package.module:attribute``), ``skills`` (templates that come before this one),
    ``agent_skills``, ``mcp``, any setting (``model``, ``temperature``, …), and ``parameters``: a
    mapping from names to defaults (nothing: must be given), or to ``{type, default,
    description, required, enum}`` with the types ``string, integer, number, boolean, list`` and
    ``object``. An included template's head counts for its parameters alone.

    With ``shell: true`` in the head, ``$(command)`` in the text is replaced by what the command
    writes; with ``environment: true``, ``$NAME`` and ``${NAME}`` by the variable. Both only
    where the options ``allow_shell`` and ``allow_environment`` are on as well, and never in
    values that are filled in. Commands are started without a shell and have 30 seconds.

    Parameters
    ----------
    text : str
        The whole template, head included. A file's template comes from :meth:`load`.
    name : str, optional
    folder : str or Path, optional
        Where it includes files from; the option ``prompts_path`` when left out.

    Attributes
    ----------
    name : str
    path : Path or None
        Its file.
    text : str
        As it was written.
    body : str
        What is rendered of it.

    Raises
    ------
    ConfigurationError
        When the head or the Jinja is broken; it names file and line.

    Examples
    --------
    >>> tone = Template('''---
    ... parameters:
    ...   tone: kind
    ...   topic: {type: string, description: What to explain.}
    ... ---
    ... Explain {{ topic }} and be {{ tone }}.''', name="teach")
    >>> tone.missing({})
    ('topic',)
    >>> tone.render({"topic": "rain"})
    'Explain rain and be kind.'
    """

    __slots__ = ("_allowed", "source")

    #: the text as it was read
    source: Source
    #: (shell, environment) as the level that named it allows; None for the options
    _allowed: tuple[bool, bool] | None

    def __init__(
        self, text: str, name: str = "template", *, folder: str | Path | None = None
    ) -> None:
        if not isinstance(text, str):
            raise ConfigurationError(
                f"a template is a text, not {type(text).__name__}",
                hint='Template.load("name") reads one of a file.',
            )
        if not isinstance(name, str) or not name.strip():
            raise ConfigurationError(f"a template's name is a text, not {name!r}")
        self.source = source_of(text, name, _folder(folder))
        self._allowed = None
        compiled(self.source)

    @classmethod
    def load(cls, name: str | Path, *, folder: str | Path | None = None) -> Template:
        """Read a template's file.

        Parameters
        ----------
        name : str or Path
            As ``template=`` of a robot takes it.
        folder : str or Path, optional
            The option ``prompts_path`` when left out.

        Raises
        ------
        ConfigurationError
            When there is none, or it is broken.
        """
        return cls._of(named(name, _folder(folder), by="Template.load"), None)

    @classmethod
    def _of(cls, source: Source, allowed: tuple[bool, bool] | None) -> Template:
        made = cls.__new__(cls)
        made.source, made._allowed = source, allowed
        made._rendering().admit(source)
        compiled(source)
        return made

    # -- what it says --------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """What people call it."""
        return self.source.name

    @property
    def path(self) -> Path | None:
        """Its file; None for a text of a cell."""
        return self.source.path

    @property
    def text(self) -> str:
        """As it was written, head included."""
        return self.source.text

    @property
    def body(self) -> str:
        """What is rendered: no head, no comments."""
        return self.source.body

    @property
    def front(self) -> Mapping[str, Any]:
        """The head as it was written."""
        return self.source.front.data

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What it can be given."""
        return self.source.front.parameters

    @property
    def robot_name(self) -> str | None:
        """The name of a robot made of it that is given none."""
        return self.source.front.robot_name

    @property
    def description(self) -> str | None:
        """What such a robot is for."""
        return self.source.front.description

    @property
    def tools(self) -> tuple[str, ...] | None:
        """The tools it names; None when it says nothing of tools."""
        return self.source.front.tools

    @property
    def skills(self) -> tuple[str, ...]:
        """The templates that come before it."""
        return self.source.front.skills

    def level(self) -> dict[str, Any]:
        """The settings that it makes."""
        return dict(self.source.front.settings)

    def where(self) -> str:
        """Its name and file, as errors tell them."""
        return self.source.where()

    def has_changed(self) -> bool:
        """Whether its file may be another than the one that was read."""
        return has_changed(self.source)

    # -- rendering -----------------------------------------------------------------------------

    def missing(self, context: Mapping[str, Any] | None = None) -> tuple[str, ...]:
        """The names of the parameters that must be given and are not.

        Parameters
        ----------
        context : mapping, optional
            What is given; None as a value counts as not given.
        """
        return missing(self.parameters, context or {})

    def render(self, context: Mapping[str, Any] | None = None) -> str:
        """What a model is told.

        Parameters
        ----------
        context : mapping, optional
            Values for the parameters, and any others.

        Raises
        ------
        ConfigurationError
            When a parameter is missing or of a wrong type, a name has no value, an included file
            is not there or includes back, or a command fails. It names template, file and line.
        """
        return rendered(self.source, context or {}, self._rendering())

    def facts(self, context: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Everything a picture shows of it, as data. No command is run for it.

        Parameters
        ----------
        context : mapping, optional

        Returns
        -------
        dict
            ``name``, ``path``, ``robot_name``, ``description``, ``parameters`` (a list of dicts
            with ``name, type, required, default, description, enum``), ``front`` (the head as it
            was written), ``body``, ``missing`` (names), ``text`` (what is told, or None) and
            ``error`` (why there is no text, or None).

        Examples
        --------
        >>> facts = Template("Hello {{ name }}", "greet").facts({"nam": "Ada"})
        >>> facts["text"], facts["error"]
        (None, "template 'greet' (line 1): 'name' is undefined. Did you mean 'nam'?")
        """
        absent = self.missing(context)
        text = error = None
        if not absent:
            try:
                text = rendered(self.source, context or {}, Rendering(True, True, literally=True))
            except ConfigurationError as found:
                error = str(found)
        return {
            "name": self.name,
            "path": None if self.path is None else str(self.path),
            "robot_name": self.robot_name,
            "description": self.description,
            "parameters": [one.to_dict() for one in self.parameters],
            "front": dict(self.front),
            "body": self.body,
            "missing": list(absent),
            "text": text,
            "error": error,
        }

    def _rendering(self) -> Rendering:
        return Rendering(*(self._allowed or _allowed(_settings())))

    def __repr__(self) -> str:
        wanted = ", ".join(p.name + ("" if p.required else "?") for p in self.parameters)
        return f"<{self.where()[0].upper()}{self.where()[1:]}{': ' if wanted else ''}{wanted}>"

    def __reduce__(self) -> Any:
        if self.path is not None:
            return _again, (self.path, self.name, self.source.root)
        return Template, (self.text, self.name)


def _again(path: Path, name: str, root: Path) -> Template:
    return Template._of(read_file(path, root, name), None)


def load_template(
    ref: Any,
    *,
    folder: str | Path,
    settings: Mapping[str, Any],
    by: str = "template=",
    also: str = "",
) -> Template:
    """The template that something names.

    Parameters
    ----------
    ref : str, Path or Template
        ``"support"`` is ``support.md`` in the folder, ``"shop/support"`` a file of a folder in
        it. A Path, or a text that ends in ``.md``, is the file itself, from the working folder or
        else from that one; it includes files of that folder when it lies in it, else of its own.
    folder : str or Path
    settings : mapping
        ``allow_shell`` and ``allow_environment`` are read.
    by, also : str, optional
        For errors: who names it, and what else to do when it is not there.

    Raises
    ------
    ConfigurationError
        When there is no such template, with the near names and the folder; when it is broken;
        when it asks for more than the settings allow.
    """
    root = _folder(folder)
    if isinstance(ref, Template):
        source = ref.source
        if source.path is not None and has_changed(source):
            source = read_file(source.path, source.root, source.name)
    else:
        source = named(ref, root, by=by, also=also)
    return Template._of(source, _allowed(settings))


def load_named(
    name: str, *, root: Path, settings: Mapping[str, Any], by: str, also: str = ""
) -> Template:
    """The template of a name that stands in a file: it cannot lead out of the folder.

    Raises
    ------
    ConfigurationError
        As :func:`load_template`.
    """
    found = find(name, root, by=by)
    if found is None:
        raise unknown(name, root, by=by, also=also)
    return Template._of(found, _allowed(settings))


def render_template(name: str | Path | Template, /, **context: Any) -> str:
    """Render a template to text, without a robot.

    Parameters
    ----------
    name : str, Path or Template
        A file of the folder ``rl.options.prompts_path``, with or without ``.md``.
    **context
        Values for its parameters.

    Returns
    -------
    str
        The text alone; its head says nothing here.

    Raises
    ------
    ConfigurationError
        When there is no such template, or it cannot be rendered.

    Examples
    --------
    >>> render_template(Template("Hello {{ name }}!"), name="Ada")
    'Hello Ada!'
    """
    settings = _settings()
    folder = settings["prompts_path"] or "prompts"
    return load_template(name, folder=folder, settings=settings).render(context)


def _settings() -> Mapping[str, Any]:
    return resolve(options.levels()).values_


def _allowed(settings: Mapping[str, Any]) -> tuple[bool, bool]:
    return bool(settings.get("allow_shell")), bool(settings.get("allow_environment"))


def _folder(folder: str | Path | None) -> Path:
    return Path(folder or _settings()["prompts_path"] or "prompts").expanduser().absolute()
