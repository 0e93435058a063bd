"""What a robot may call: the Tool, made of a function, a class or a schema.

A tool says what it is (name, description, parameters) and how it is to be called (where, how
long, what an exception means). Calling it for a model is :mod:`.call`'s work.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from ..core.errors import ConfigurationError
from ..core.keys import digest
from ..core.keywords import strict_keywords
from ..core.pickling import refuse_secrets
from ..core.readings import Pictured
from ..models.protocol import ToolSpec
from . import traits
from .declared import declared_signature
from .docstrings import read_docstring
from .labels import NO_LABELS, checked_approval, checked_labels
from .schema import Signature, read_signature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["KNOWN", "Tool"]

#: where a function keeps the tool made of it: the two then live and die together
KNOWN = "__robotlab_tool__"
#: signatures of methods, by their function: bound methods are new objects each time
_methods: WeakKeyDictionary[Any, Signature] = WeakKeyDictionary()


class Tool(Pictured):
    """Something that a robot may call.

    Functions become tools by themselves when a robot gets them; :func:`tool` sets options.
    For a tool with a state, subclass it and write ``execute``; ``self.robot`` is its owner.

    Parameters
    ----------
    function : callable
        Sync or async; its signature and docstring become schema and description.
    name : str, optional
        1 to 64 of ``a-z A-Z 0-9 _ -``. The default is the function's name.
    description : str, optional
        What the model is told. The default is the prose of the docstring.
    parameters : mapping, optional
        JSON Schema of the arguments, in place of the signature.
    timeout : float, optional
        Seconds for one call; ``math.inf`` for no limit. The default is the robot's.
    loop : {"engine", "caller"}, optional
        Where an async function runs: on the engine's loop, or on the loop of the code that
        started the run (for a connection opened in a cell).
    raise_on_error : bool, optional
        Whether an exception ends the run instead of being told to the model. The default is
        the robot's.
    inject : iterable of str, optional
        Parameters that the host fills and the model never sees: ``robot``, ``run``, ``memory``,
        ``context``, or a key of the run's context. Parameters annotated with ``Run``, ``Robot``
        or ``Memory`` are injected without being named.
    source : str, optional
        Where it comes from, for people.
    labels : iterable of str, optional
        What a call does: ``"private"`` (reads what is not for everybody), ``"untrusted"`` (reads
        what strangers wrote), ``"outward"`` (sends something out). A robot that has all three
        needs approval for each outward call.
    approval : bool or callable, optional
        True: each call needs a person's approval. A sync or async function of the arguments (a
        dict): those calls for which it is true.

    Attributes
    ----------
    is_async : bool
    spec : ToolSpec
        What a model is told.
    robot : Robot or None
        The owner, for subclasses.

    Raises
    ------
    ConfigurationError
        When it cannot be told to a model; the message names tool and parameter.

    Examples
    --------
    >>> class Weather(Tool):
    ...     '''Weather of a city.'''
    ...     def execute(self, city: str) -> str:
    ...         return f"sunny in {city}"
    >>> weather = Weather()
    >>> weather.name, weather.description, weather("Paris")
    ('weather', 'Weather of a city.', 'sunny in Paris')
    """

    __slots__ = (
        "__weakref__", "_declared", "_inject", "_schema_key", "approval", "description", "function",
        "is_async", "is_method", "labels", "loop", "name", "parameters", "raise_on_error", "robot",
        "signature", "source", "spec", "timeout",
    )  # fmt: skip

    name: str
    description: str
    parameters: dict[str, Any]
    function: Callable[..., Any]
    source: str
    timeout: float | None
    loop: Literal["engine", "caller"]
    raise_on_error: bool | None
    labels: frozenset[str]
    approval: bool | Callable[[dict[str, Any]], Any] | None
    is_async: bool
    #: whether it is a method that still lacks its object
    is_method: bool
    signature: Signature
    spec: ToolSpec
    robot: Any

    def __new__(cls, *args: Any, **kwargs: Any) -> Tool:
        """Make a subclass's tool complete before ``__init__``, which need not call ours."""
        made = super().__new__(cls)
        if cls is not Tool:
            made._set_up(_of_class(made), **_class_options(cls))
        return made

    @strict_keywords
    def __init__(
        self,
        function: Callable[..., Any] | None = None,
        *,
        name: str | None = None,
        description: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        loop: Literal["engine", "caller"] = "engine",
        raise_on_error: bool | None = None,
        inject: Iterable[str] = (),
        source: str | None = None,
        labels: Iterable[str] = (),
        approval: bool | Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        given: dict[str, Any] = {
            "name": name, "description": description, "parameters": parameters,
            "timeout": timeout, "loop": loop, "raise_on_error": raise_on_error,
            "inject": _names(inject), "source": source, "labels": labels, "approval": approval,
        }  # fmt: skip
        if type(self) is not Tool:
            given = {k: v for k, v in given.items() if v not in (None, (), "engine")}
            if given:
                self._set_up(_of_class(self), **{**_class_options(type(self)), **given})
            return
        if not callable(function):
            raise ConfigurationError(
                f"a tool is made of a function, not of {function!r:.80}",
                hint="Pass a function, or subclass Tool and write execute().",
            )
        self._set_up(function, **given)

    def _set_up(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        loop: Literal["engine", "caller"] = "engine",
        raise_on_error: bool | None = None,
        inject: tuple[str, ...] = (),
        source: str | None = None,
        labels: Iterable[str] = (),
        approval: bool | Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.function = function
        self.name = traits.checked_name(name) if name is not None else traits.own_name(function)
        self.timeout = _checked_timeout(timeout, self.name)
        self.raise_on_error = raise_on_error
        self.is_async = traits.is_async(function)
        self.loop = _checked_loop(loop, self.is_async, self.name)
        self.is_method = traits.lacks_object(function)
        self.source = source or traits.source(function)
        self.labels = checked_labels(labels, self.name) if labels else NO_LABELS
        self.approval = checked_approval(approval, self.name) if approval else None
        self.robot = None
        self._inject = inject
        self._declared = parameters is not None
        self._schema_key: str | None = None
        if self._declared:
            self.signature = declared_signature(parameters, function, tool=self.name, inject=inject)
        else:
            self.signature = self._read_signature(function, inject)
        self.description = self.signature.description if description is None else description
        self.parameters = self.signature.parameters
        self.spec = ToolSpec(self.name, self.description, self.parameters)

    def _read_signature(self, function: Callable[..., Any], inject: tuple[str, ...]) -> Signature:
        key = getattr(function, "__func__", None)
        if key is None or inject:
            return read_signature(function, tool=self.name, inject=inject, is_method=self.is_method)
        found = _methods.get(key)
        if found is None:
            found = _methods[key] = read_signature(function, tool=self.name)
        return found

    @property
    def schema_key(self) -> str:
        """Digest of what a model is told of the tool, as 64 hexadecimal digits."""
        if self._schema_key is None:
            self._schema_key = digest([self.name, self.description, self.parameters])
        return self._schema_key

    @staticmethod
    @strict_keywords
    def create(
        name: str,
        description: str = "",
        parameters: Mapping[str, Any] | None = None,
        function: Callable[..., Any] | None = None,
        *,
        timeout: float | None = None,
        loop: Literal["engine", "caller"] = "engine",
        raise_on_error: bool | None = None,
        inject: Iterable[str] = (),
        source: str | None = None,
        labels: Iterable[str] = (),
        approval: bool | Callable[[dict[str, Any]], Any] | None = None,
    ) -> Tool:
        """Make a tool of a JSON Schema.

        Parameters
        ----------
        name, description : str
        parameters : mapping, optional
            JSON Schema of an object: whatever JSON Schema can say. None for no arguments.
        function : callable
            It gets the arguments by name.
        timeout, loop, raise_on_error, inject, source, labels, approval
            As for :class:`Tool`.

        Returns
        -------
        Tool

        Examples
        --------
        >>> schema = {"type": "object", "properties": {"unit": {"enum": ["C", "F"]}}}
        >>> Tool.create("read", "Read it.", schema, lambda unit="C": 21).parameters["properties"]
        {'unit': {'enum': ['C', 'F']}}
        """
        return Tool(
            function, name=name, description=description, timeout=timeout, loop=loop,
            parameters={"type": "object", "properties": {}, "additionalProperties": False}
            if parameters is None else parameters,
            raise_on_error=raise_on_error, inject=inject, source=source, labels=labels,
            approval=approval,
        )  # fmt: skip

    def attached_to(self, robot: Any) -> Tool:
        """The tool as a robot's own: of a subclass, one whose ``robot`` is that robot.

        A free instance is taken as it is; one that another robot owns is copied. Tools made of
        functions have no owner and serve every robot.
        """
        if type(self) is Tool or self.robot is robot:
            return self
        if self.robot is None:
            self.robot = robot
            return self
        other: Tool = _revive(*self._recipe())
        other.robot = robot
        return other

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself: no checks, no timeout, exceptions as they come."""
        return self.function(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Tool:
        # A decorated method: seen through its object, the tool has the object bound.
        if instance is None or not self.is_method:
            return self
        bound: Callable[..., Any] = types.MethodType(self.function, instance)
        return Tool(bound, **self._options())

    def _options(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters if self._declared else None,
            "timeout": self.timeout,
            "loop": self.loop,
            "raise_on_error": self.raise_on_error,
            "inject": self._inject,
            "source": self.source,
            "labels": self.labels,
            "approval": self.approval,
        }

    def _recipe(self) -> tuple[type[Tool], dict[str, Any], dict[str, Any]]:
        return type(self), self._options(), dict(getattr(self, "__dict__", {}))

    def __reduce__(self) -> Any:
        held = {"its function": self.function, "its state": getattr(self, "__dict__", {})}
        refuse_secrets(f"tool {self.name!r}", held)
        if type(self) is not Tool:
            return _revive, self._recipe()
        function = self.function
        if getattr(function, "__dict__", {}).get(KNOWN) is self:
            from .decorator import as_tool

            return as_tool, (function,)
        module, path = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
        if module and _named(module, path) is self:
            return _named, (module, path)
        return _rebuild, (function, self._options())


def _named(module: str, path: str) -> Any:
    """What stands under a dotted path in a module; None when there is nothing."""
    import importlib

    found: Any = importlib.import_module(module)
    for step in path.split("."):
        found = getattr(found, step, None)
    return found


def _rebuild(function: Callable[..., Any], options: dict[str, Any]) -> Tool:
    return Tool(function, **options)


def _revive(cls: type[Tool], options: dict[str, Any], state: dict[str, Any]) -> Tool:
    made = cls.__new__(cls)
    made._set_up(_of_class(made), **options)
    made.__dict__.update(state)
    return made


def _names(inject: Iterable[str]) -> tuple[str, ...]:
    if isinstance(inject, str):
        raise ConfigurationError(
            f"inject={inject!r} is not a list of names", hint=f"Write inject=({inject!r},)."
        )
    return tuple(inject)


def _checked_timeout(timeout: float | None, name: str) -> float | None:
    if timeout is None or (
        isinstance(timeout, (int, float)) and not isinstance(timeout, bool) and timeout > 0
    ):
        return timeout
    raise ConfigurationError(
        f"tool {name!r}: timeout={timeout!r} is not a number of seconds above 0",
        hint="None takes the robot's; math.inf means no limit.",
    )


def _checked_loop(loop: Any, is_async: bool, name: str) -> Any:
    if loop not in ("engine", "caller"):
        raise ConfigurationError(
            f"tool {name!r}: there is no loop {loop!r}", hint='Use "engine" or "caller".'
        )
    if loop == "caller" and not is_async:
        raise ConfigurationError(
            f"tool {name!r} is a sync function and runs on no loop",
            hint='Make it `async def`, or leave loop="caller" out: it gets a thread of its own.',
        )
    return loop


def _of_class(made: Tool) -> Callable[..., Any]:
    execute = getattr(made, "execute", None)
    if not callable(execute):
        raise ConfigurationError(
            f"{type(made).__name__} is a tool without `execute`",
            hint="Write `def execute(self, …)` in it.",
        )
    function: Callable[..., Any] = execute
    return function


def _class_options(cls: type[Tool]) -> dict[str, Any]:
    """What the class body (or a base's) sets; the rest as for functions."""
    found: dict[str, Any] = {}
    keys = (
        "name", "description", "parameters", "timeout", "loop", "raise_on_error", "source",
        "labels", "approval",
    )  # fmt: skip
    for key in keys:
        value = getattr(cls, key, None)
        if not isinstance(value, types.MemberDescriptorType) and value is not None:
            found[key] = value
    found.setdefault("name", traits.snake(cls.__name__))
    if "description" not in found and cls.__doc__:
        found["description"] = read_docstring(cls.__doc__)[0]
    inject = getattr(cls, "inject", ())
    found["inject"] = _names(inject)
    return found
