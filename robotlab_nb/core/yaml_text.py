"""YAML as plain data, for files that people write by hand.

The core schema of YAML 1.2, so that ``no`` is a word and ``1e-3`` a number; no references, no
tags that make objects, no key twice. Knows of no settings and no files.
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

from .errors import ConfigurationError

__all__ = ["Mapped", "read_mapping", "read_value"]

#: characters; a hand-written mapping is far shorter
_LONGEST = 64_000
_DEEPEST = 50
_TAG = "tag:yaml.org,2002:"


class Mapped(NamedTuple):
    """A mapping, and the line on which each of its keys stands."""

    data: dict[str, Any]
    lines: dict[str, int]


def read_mapping(text: str, where: str, *, first_line: int = 1) -> Mapped:
    r"""Read a mapping with names as keys; nothing at all is an empty one.

    Parameters
    ----------
    text : str
    where : str
        For errors: which file.
    first_line : int, optional
        The number of the text's first line in that file.

    Raises
    ------
    ConfigurationError
        When it is no such mapping; it names the line.

    Examples
    --------
    >>> read_mapping("model: openai/gpt-5-mini\nstop: no", "a.yml")
    Mapped(data={'model': 'openai/gpt-5-mini', 'stop': 'no'}, lines={'model': 1, 'stop': 2})
    """
    data, lines = _read(text, where, first_line)
    if data is None:
        return Mapped({}, {})
    if not isinstance(data, dict):
        raise ConfigurationError(
            f"{where}, line {first_line}: these are no settings, but {type(data).__name__}",
            hint="Write `name: value`, one a line.",
        )
    return Mapped(data, lines)


def read_value(text: str, where: str) -> Any:
    """Read one value: a list, a mapping, a number, a word.

    Examples
    --------
    >>> read_value("[a, 1, true]", "a variable")
    ['a', 1, True]
    """
    return _read(text, where, 1)[0]


def _read(text: str, where: str, first_line: int) -> tuple[Any, dict[str, int]]:
    if len(text) > _LONGEST:
        raise ConfigurationError(f"{where}: over {_LONGEST:,} characters of YAML")
    import yaml

    try:
        loader = _loader_class()(text)
        node = loader.get_single_node()
        data = None if node is None else loader.construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = text.count("\n", 0, getattr(error, "position", 0)) if mark is None else mark.line
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or error
        raise ConfigurationError(f"{where}, line {first_line + line}: {problem}") from None
    except ValueError as error:  # a number of thousands of digits
        raise ConfigurationError(f"{where}: {error}") from None
    lines = {}
    if isinstance(node, yaml.MappingNode):
        lines = {key.value: first_line + key.start_mark.line for key, _ in node.value}
    return data, lines


@functools.cache
def _loader_class() -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        """PyYAML's safe loader without what makes a short text mean something long or odd."""

        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.AliasEvent):
                raise _refused("references (*name) are not read", event.start_mark)
            self.depth += 1
            if self.depth > _DEEPEST:
                raise _refused(f"nested more than {_DEEPEST} deep", event.start_mark)
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen = set()
            for key, _ in node.value:
                if key.tag != _TAG + "str":
                    raise _refused(f"a key is a name, not {_told(key)}", key.start_mark)
                if key.value in seen:
                    raise _refused(f"{key.value!r} stands here twice", key.start_mark)
                seen.add(key.value)
            return super().construct_mapping(node, deep=deep)

        def construct_integer(self, node: Any) -> int:
            text = self.construct_scalar(node)
            base = {"0o": 8, "0x": 16}.get(text[:2], 10)
            return int(text, base)

        def construct_unknown(self, node: Any) -> Any:
            raise _refused(f"the tag {node.tag!r:.80} is not read", node.start_mark)

    known = ("map", "seq", "str", "null", "bool", "float")
    Loader.yaml_constructors = {
        **{_TAG + kind: Loader.yaml_constructors[_TAG + kind] for kind in known},
        _TAG + "int": Loader.construct_integer,
        None: Loader.construct_unknown,
    }
    Loader.yaml_implicit_resolvers = {}
    for kind, pattern, starts in (
        ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
        ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
        ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
        (
            "float",
            r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
            r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
            list("-+0123456789."),
        ),
    ):
        Loader.add_implicit_resolver(_TAG + kind, re.compile(rf"(?:{pattern})\Z"), starts)
    return Loader


def _refused(problem: str, mark: Any) -> Exception:
    import yaml

    return yaml.constructor.ConstructorError(None, None, problem, mark)


def _told(key: Any) -> str:
    return f"{key.value!r:.80}" if isinstance(key.value, str) else f"a {key.id}"
