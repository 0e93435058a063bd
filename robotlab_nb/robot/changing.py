"""Changing a robot: every part is kept, and all are put together again after a change.

A change that cannot be meant leaves the robot as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.config import RunConfig, check, key_name_only
from ..core.errors import UnknownKeyword, near
from ..core.fields import FIELDS, NONE_IS_A_VALUE
from ..tools.decorator import as_tool

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from .robot import Robot

__all__ = ["Changing", "checked"]

#: what a robot is made of besides its settings
_OWN = ("name", "system_prompt", "description", "template", "context", "skills", "memory", "config")


def checked(settings: Mapping[str, Any], name: str, kind: str = "robot") -> dict[str, Any]:
    """Settings given as keywords, checked; None means left out, unless it means something."""
    where = f"{kind} {name!r}"
    kept: dict[str, Any] = {}
    for key, value in settings.items():
        if key not in FIELDS:
            known = [*(_OWN if kind == "robot" else ("tasks", "concurrency", "config")), *FIELDS]
            raise UnknownKeyword(f"{where} has no setting {key!r}", hint=near(key, known))
        if value is None and key not in NONE_IS_A_VALUE:
            continue
        kept[key] = value if key == "tools" else check(key, value, where)
    if "tools" in kept and isinstance(kept["tools"], (list, tuple)):
        # One object for each class, however often the tools are worked out.
        kept["tools"] = [as_tool(t) if isinstance(t, type) else t for t in kept["tools"]]
    return kept


class Changing:
    """What changes a robot in place. Each method returns the robot, so that they chain."""

    __slots__ = ()

    if TYPE_CHECKING:
        _name: str | None
        _description: str | None
        _template: Any
        _context: Any
        _skills: tuple[Any, ...]
        _config: RunConfig | None
        _keywords: dict[str, Any]
        _memory: Any

        @property
        def system_prompt(self) -> str | None:
            """The prompt that was given as it stands."""
            ...

    def parts(self) -> dict[str, Any]:
        """All that the robot was made of, as keywords of :func:`build`."""
        return {
            "name": self._name,
            "system_prompt": self.system_prompt,
            "description": self._description,
            "template": self._template,
            "context": self._context,
            "skills": self._skills,
            "config": self._config,
            **self._keywords,
        }

    def update(self, **changes: Any) -> Self:
        """Change any part or setting; all others stay as they are.

        Parameters
        ----------
        **changes
            Keywords of :func:`build`; None takes a part away.

        Returns
        -------
        Robot
            This robot.

        Raises
        ------
        ConfigurationError
            When something cannot be meant. The robot is then as it was.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> bot = rl.build("poet", system_prompt="Rhyme.", temperature=1)
        >>> bot.update(temperature=0).system_prompt
        'Rhyme.'
        """
        for name in changes:
            if name not in FIELDS and name not in _OWN:
                raise UnknownKeyword(
                    f"a robot has no part {name!r} to change", hint=near(name, [*_OWN, *FIELDS])
                )
        from .robot import Robot

        whole = {**self.parts(), **changes}
        changed = [k for k, v in changes.items() if v is None and k not in _OWN]
        for name in changed:
            if name not in NONE_IS_A_VALUE:
                del whole[name]
        if whole.get("skills") is None:
            whole["skills"] = ()
        made: Robot[Any] = Robot.__new__(type(self))  # type: ignore[arg-type]
        Robot.__init__(made, **whole)
        if "memory" in changes:
            self._memory = changes["memory"]
        for slot in Robot.__slots__:  # its past is not among them
            if slot != "__weakref__":
                setattr(self, slot, getattr(made, slot))
        return self

    def with_template(self, template: Any, **context: Any) -> Self:
        """Put another template in place; skills and system prompt stay. Values may come along."""
        return self.update(template=template, context={**_given(self._context), **context} or None)

    def with_context(self, **context: Any) -> Self:
        """Give values for the template's parameters, over those that are there."""
        return self.update(context={**_given(self._context), **context})

    def with_system_prompt(self, system_prompt: str | None) -> Self:
        """Put another system prompt in place; it comes after the template."""
        return self.update(system_prompt=system_prompt)

    def with_skills(self, *skills: Any) -> Self:
        """Add template skills to those that are there."""
        return self.update(skills=(*self._skills, *skills))

    def with_model(self, model: Any, **settings: Any) -> Self:
        """Ask another model; ``provider, api_base, api_key, via`` belong to it and start anew."""
        anew = {"provider": None, "api_base": None, "api_key": None, "via": None}
        return self.update(**{**anew, "model": model, **settings})

    def with_tools(self, *tools: Any) -> Self:
        """Add tools to those that the robot has; they stay for all runs to come."""
        return self.update(tools=[*self._keywords.get("tools", ()), *tools])

    def with_temperature(self, temperature: float | None) -> Self:
        """Set the sampling temperature."""
        return self.update(temperature=temperature)

    def with_output(self, output: Any) -> Self:
        """Say what the answer must be: a pydantic model, a type, a JSON Schema; None for text."""
        return self.update(output=output)

    def with_hooks(self, *hooks: Any) -> Self:
        """Add handlers to those that the robot has."""
        known = self._keywords.get("hooks") or ()
        known = known if isinstance(known, (list, tuple)) else (known,)
        return self.update(hooks=[*known, *hooks])

    def fork(self, name: str | None = None) -> Robot[Any]:
        """A second robot just like this one, its conversation and learnings included.

        What the two do from then on is each one's own.

        Parameters
        ----------
        name : str, optional
            A name for the new one.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> one = rl.build("one", model=rl.SimulatedModel(["first", "second"]))
        >>> _ = one.run("hello")
        >>> two = one.fork("two")
        >>> _ = two.run("and?")
        >>> len(one.messages), len(two.messages)
        (2, 4)
        """
        from .robot import Robot

        parts = self.parts()
        if name is not None:
            parts["name"] = name
        made: Robot[Any] = Robot.__new__(type(self))  # type: ignore[arg-type]
        Robot.__init__(made, **parts)
        made._remember_like(self)
        return made

    def _recipe(self) -> dict[str, Any]:
        """What builds this robot again elsewhere: no conversation, no live objects, no key."""
        alive = ("api_key", "hooks", "budget")
        recipe = {k: v for k, v in self.parts().items() if k not in alive}
        key = key_name_only(self._keywords.get("api_key"))
        if key is not None:
            recipe["api_key"] = key
        if self._config is not None:
            recipe["config"] = {k: v for k, v in self._config.items() if k not in alive}
        return recipe


def _given(context: Any) -> dict[str, Any]:
    return dict((context() if callable(context) else context) or {})
