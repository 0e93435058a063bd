"""The JSON Schema of signatures: what models are told of a tool's arguments."""

from __future__ import annotations

import datetime
import enum
import functools
import json
import math
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional, Required, TypedDict, Union

import pytest
from pydantic import BaseModel, Field

from robotlab_nb.core.errors import ConfigurationError
from robotlab_nb.runtime.run import Run  # noqa: TC001  (annotations are read)
from robotlab_nb.tools.declared import declared_signature
from robotlab_nb.tools.docstrings import read_docstring
from robotlab_nb.tools.plain_types import plain
from robotlab_nb.tools.schema import read_signature


class Unit(enum.Enum):
    CELSIUS = "C"
    FAHRENHEIT = "F"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Address(BaseModel):
    street: str
    number: int = Field(ge=1)


class Order(BaseModel):
    items: list[str]
    to: Address


@dataclass
class Point:
    x: float
    y: float = 0.0


class Filters(TypedDict):
    color: str


class Search(Filters, total=False):
    limit: int
    words: Required[list[str]]


NOTHING = object()


def schema_of(function: Callable[..., Any], **options: Any) -> dict[str, Any]:
    return read_signature(function, tool="t", **options).parameters


def property_of(annotation: Any) -> dict[str, Any]:
    def function(x): ...

    function.__annotations__["x"] = annotation
    return schema_of(function)["properties"]["x"]


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (list, {"type": "array", "items": {}}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict, {"type": "object", "additionalProperties": True}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (
            tuple[int, int],
            {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
        ),
        (
            tuple[int, str],
            {
                "type": "array",
                "minItems": 2,
                "maxItems": 2,
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            },
        ),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a", 1, None], {"enum": ["a", 1, None]}),
        (Unit, {"type": "string", "enum": ["C", "F"]}),
        (Level, {"type": "integer", "enum": [1, 2]}),
        (Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}),  # noqa: UP045
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007
        (
            list[Annotated[int, "a count"]],
            {"type": "array", "items": {"type": "integer", "description": "a count"}},
        ),
        (dict[str, list[float]] | None, {
            "anyOf": [
                {
                    "type": "object",
                    "additionalProperties": {"type": "array", "items": {"type": "number"}},
                },
                {"type": "null"},
            ]
        }),
    ],
)  # fmt: skip
def test_plain_types_have_their_schema(annotation: Any, schema: dict[str, Any]) -> None:
    assert property_of(annotation) == schema


def test_plain_signatures_load_no_pydantic() -> None:
    code = """
import sys
from robotlab_nb.tools.arguments import bind, parse
from robotlab_nb.tools.decorator import as_tool
def f(a: str, b: int = 1, c: "list[int] | None" = None, d: dict[str, float] = {}, e=3): ...
made = as_tool(f)
bind(made.signature, parse('{"a": "x", "c": [1], "d": {"k": 1}}'), {}, tool="f")
print([m for m in ("pydantic", "anyio", "pandas", "numpy") if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_required_defaults_and_descriptions() -> None:
    def weather(
        city: Annotated[str, "name of the city"],
        unit: Unit = Unit.CELSIUS,
        days: int = 1,
        limit: float = math.inf,
        near: tuple[int, int] = (1, 2),
        anything=NOTHING,
    ) -> str:
        """Weather of a city.

        Only for cities of Europe.

        Parameters
        ----------
        city : str
            Loses against the annotation.
        days : int
            How many
            days.
        """
        return ""

    signature = read_signature(weather, tool="weather")
    assert signature.description == "Weather of a city.\n\nOnly for cities of Europe."
    assert signature.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "name of the city"},
            "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
            "days": {"type": "integer", "description": "How many days.", "default": 1},
            "limit": {"type": "number"},
            "near": {
                "type": "array",
                "items": {"type": "integer"},
                "minItems": 2,
                "maxItems": 2,
                "default": [1, 2],
            },
            "anything": {},
        },
        "required": ["city"],
        "additionalProperties": False,
    }
    json.dumps(signature.parameters, allow_nan=False)


def test_no_parameters_still_say_properties() -> None:
    assert schema_of(lambda: 1) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_pydantic_types_share_their_definitions_and_have_no_titles() -> None:
    def ship(order: Order, back_to: Address | None = None, day: datetime.date | None = None): ...

    schema = schema_of(ship)
    assert schema["properties"]["order"] == {"$ref": "#/$defs/Order"}
    assert set(schema["$defs"]) == {"Order", "Address"}
    assert schema["$defs"]["Address"]["properties"]["number"] == {"type": "integer", "minimum": 1}
    assert schema["required"] == ["order"]
    assert '"title"' not in json.dumps(schema)


def test_a_property_called_title_stays() -> None:
    class Book(BaseModel):
        title: str

    def read(book): ...

    read.__annotations__["book"] = Book
    assert schema_of(read)["$defs"]["Book"]["properties"] == {"title": {"type": "string"}}


def test_dataclasses_typed_dicts_and_constraints_go_through_pydantic() -> None:
    def f(p: Point, q: Filters, n: Annotated[int, Field(ge=0, le=9), "a digit"] = 3): ...

    schema = schema_of(f)
    assert set(schema["$defs"]) == {"Point", "Filters"}
    assert schema["properties"]["n"] == {
        "type": "integer",
        "minimum": 0,
        "maximum": 9,
        "description": "a digit",
        "default": 3,
    }


def test_rich_defaults_are_written_as_json() -> None:
    day = datetime.date(2020, 1, 2)

    def f(day: datetime.date = day, wrong: datetime.date = NOTHING): ...

    properties = schema_of(f)["properties"]
    assert properties["day"]["default"] == "2020-01-02"
    assert "default" not in properties["wrong"]


def test_typed_dicts_keep_what_is_required_wherever_they_stand() -> None:
    def f(one: Search, many: list[Search] | None = None): ...

    schema = schema_of(f)
    assert sorted(schema["$defs"]["Search"]["required"]) == ["color", "words"]
    assert schema["properties"]["many"]["anyOf"][0]["items"] == {"$ref": "#/$defs/Search"}
    faults: list[str] = []
    read = read_signature(f, tool="f").fields["one"].read
    assert read({"color": "red", "words": ["a"]}, faults) == {"color": "red", "words": ["a"]}
    assert not faults
    read({"words": [1]}, faults)
    assert len(faults) == 2


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda *rest: 1, ("*rest",)),
        (lambda **rest: 1, ("**rest",)),
        (eval("lambda x, /: 1"), ("'x'", "positional-only")),
    ],
)
def test_what_no_model_can_fill_is_refused(function: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_signature(function, tool="my_tool")
    for word in ("'my_tool'", *words):
        assert word in str(caught.value)


@pytest.mark.parametrize("annotation", [type(threading.Lock()), Callable, threading, 3])
def test_unserialisable_types_name_tool_parameter_and_fix(annotation: Any) -> None:
    def f(city: str, thing): ...

    f.__annotations__["thing"] = annotation
    with pytest.raises(ConfigurationError, match=r"'fetch'.*'thing'.*default"):
        read_signature(f, tool="fetch")


def test_an_unserialisable_parameter_with_a_default_is_left_out() -> None:
    def f(city: str, guard: type(threading.Lock()) = None, hook: Callable[..., int] = len): ...

    assert list(schema_of(f)["properties"]) == ["city"]


def test_an_unknown_string_annotation_names_the_parameter() -> None:
    def f(town: Twon): ...  # noqa: F821

    with pytest.raises(ConfigurationError, match=r"'f'.*'town'.*'Twon' is not known"):
        read_signature(f, tool="f")


def test_a_description_in_place_of_a_type_is_explained() -> None:
    def f(town): ...

    f.__annotations__["town"] = "the name of a town"
    with pytest.raises(ConfigurationError, match=r"'town'.*Annotated"):
        read_signature(f, tool="f")


def test_an_unreadable_return_annotation_does_not_matter() -> None:
    def f(town: str) -> Nowhere: ...  # noqa: F821

    assert list(schema_of(f)["properties"]) == ["town"]


def test_a_pydantic_field_as_default_is_explained() -> None:
    def f(n: int = Field(3, ge=0)): ...

    with pytest.raises(ConfigurationError, match=r"'n'.*Annotated"):
        read_signature(f, tool="f")


def test_annotations_of_decorated_functions_are_read_where_they_were_written() -> None:
    def loud(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return call

    @loud
    def f(unit: Unit, point: Point): ...

    assert list(schema_of(f)["properties"]) == ["unit", "point"]


def test_what_a_partial_has_bound_is_not_for_the_model() -> None:
    def f(a: int, b: int, c: int = 3):
        """Adds."""

    made = read_signature(functools.partial(f, 1, c=4), tool="f")
    assert list(made.parameters["properties"]) == ["b"]
    assert made.description == "Adds."


def test_host_types_are_injected_and_stay_out() -> None:
    def f(city: str, run: Run, maybe: Run | None = None, typed: Run[str] = None): ...

    signature = read_signature(f, tool="f")
    assert list(signature.parameters["properties"]) == ["city"]
    assert {n: tuple(i) for n, i in signature.injected.items()} == {
        "run": ("run", True),
        "maybe": ("run", False),
        "typed": ("run", False),
    }


def test_named_injections_need_no_readable_type() -> None:
    def f(city: str, robot: OnlyForTypeCheckers, context=None): ...  # noqa: F821

    signature = read_signature(f, tool="f", inject=("robot", "context"))
    assert list(signature.parameters["properties"]) == ["city"]
    assert signature.injected["context"].required is False


def test_injecting_what_is_no_parameter_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"'contxt'.*Did you mean 'context'"):
        read_signature(lambda context: 1, tool="f", inject=("contxt",))


def test_unions_of_containers_leave_the_reading_to_pydantic() -> None:
    assert plain(list[int] | dict[str, int]) is None
    assert property_of(list[int] | dict[str, int])["anyOf"][0]["type"] == "array"


GOOGLE = """Weather of a city.

Args:
    city (str, optional): Its name: in
        English.
    days: How many.

Returns:
    str: the weather
"""
NUMPY = """
Weather of a city.

Parameters
----------
city : str
    Its name: in
    English.
days
    How many.

Returns
-------
city : str
    Not this.
"""
REST = """Weather of a city.

:param str city: Its name: in
    English.
:param days: How many.
:returns: the weather
    of the city
"""


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, REST], ids=["google", "numpy", "rest"])
def test_docstring_styles(text: str) -> None:
    assert read_docstring(text) == (
        "Weather of a city.",
        {"city": "Its name: in English.", "days": "How many."},
    )


def test_docstrings_without_sections() -> None:
    assert read_docstring(None) == ("", {})
    assert read_docstring("One line.") == ("One line.", {})
    assert read_docstring("Note: this is prose.\n\nSee: more.")[0] == (
        "Note: this is prose.\n\nSee: more."
    )
    assert read_docstring("x\n\nParameters\n----------\na, b : int\n    Both.")[1] == {
        "a": "Both.",
        "b": "Both.",
    }


def test_a_declared_schema_is_told_as_it_is() -> None:
    given = {
        "type": "object",
        "properties": {
            "unit": {"enum": ["C", "F"]},
            "where": {"type": "object", "properties": {"x": {"type": "number"}}},
        },
        "required": ["unit"],
        "examples": [1],
    }
    signature = declared_signature(given, lambda **_: 1, tool="t")
    assert signature.parameters == given
    given["properties"]["unit"]["enum"].append("K")
    assert signature.parameters["properties"]["unit"]["enum"] == ["C", "F"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": "object", "properties": []},
        {"type": "object", "required": "city"},
        {"properties": {"x": {"default": object()}}},
        {"properties": {"x": {"default": math.nan}}},
    ],
)
def test_a_declared_schema_that_is_none_is_refused(schema: Any) -> None:
    with pytest.raises(ConfigurationError, match="'t'"):
        declared_signature(schema, lambda **_: 1, tool="t")


def test_a_declared_schema_must_fit_its_function() -> None:
    schema = {"properties": {"city": {"type": "string"}}}
    with pytest.raises(ConfigurationError, match="takes no 'city'"):
        declared_signature(schema, lambda town: 1, tool="t")
    with pytest.raises(ConfigurationError, match="both injected"):
        declared_signature(schema, lambda city: 1, tool="t", inject=("city",))
