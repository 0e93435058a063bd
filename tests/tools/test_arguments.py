"""What models write as arguments, and what tools get of it."""

from __future__ import annotations

import datetime
import enum
import json
from typing import Annotated, Any, Literal, Optional

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from robotlab_nb.core.errors import ConfigurationError, ToolError
from robotlab_nb.tools.arguments import ArgumentsError, bind, parse, parsed_or_none
from robotlab_nb.tools.declared import declared_signature
from robotlab_nb.tools.schema import read_signature

properties = settings(deadline=None, derandomize=True, database=None, max_examples=80)


class Unit(enum.Enum):
    CELSIUS = "C"
    FAHRENHEIT = "F"


class Order(BaseModel):
    model_config = ConfigDict(strict=True)
    item: str
    day: datetime.date | None = None
    count: int = Field(1, ge=1)


def read(annotation: Any, value: Any) -> Any:
    def function(x): ...

    function.__annotations__["x"] = annotation
    signature = read_signature(function, tool="t")
    return bind(signature, {"x": value}, {}, tool="t")["x"]


@pytest.mark.parametrize("text", ["", None, " \n\t", "null", " null ", "{}", " { } "])
def test_nothing_means_no_arguments(text: str | None) -> None:
    assert parse(text) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1', "not valid JSON"),
        ('{"a": 1} trailing', "not valid JSON"),
        ("{'a': 1}", "not valid JSON"),
        ('{"a": "\n"}', "not valid JSON"),
        ("[1]", "a list, not a JSON object"),
        ('"{}"', "a string, not a JSON object"),
        ("3", "a number, not a JSON object"),
        ("true", "a boolean, not a JSON object"),
        ('{"a": 1, "a": 2}', "'a' is given more than once"),
        ('{"o": {"b": 1, "b": 1}}', "'b' is given more than once"),
        ('{"a": NaN}', "NaN is not valid JSON"),
        ('{"a": [-Infinity]}', "-Infinity is not valid JSON"),
        ('{"a": 1e999}', "too large"),
        ('{"a": ' + "7" * 5_000 + "}", "too many digits"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested deeper"),
        ("[" * 100_000, "nested deeper"),
        ('{"a": ' * 200 + "1" + "}" * 200, "nested deeper"),
    ],
    ids=lambda value: value[:24],
)
def test_what_cannot_be_read_becomes_a_short_text(text: str, words: str) -> None:
    with pytest.raises(ArgumentsError) as caught:
        parse(text)
    assert isinstance(caught.value, ToolError)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 300
    assert parsed_or_none(text) is None


def test_brackets_inside_strings_are_not_nesting() -> None:
    text = json.dumps({"a": "[" * 500 + '\\"{' * 50, "b": [[1], [2]] * 60})
    assert parse(text) == json.loads(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text() | st.sampled_from(["\ud800", "\x00", "\u2028"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)  # fmt: skip


@properties
@given(st.dictionaries(st.text(), JSON))
@example({"lone": "\ud800", "nul": "\x00"})
def test_any_json_object_is_read_as_it_is(value: dict[str, Any]) -> None:
    assert parse(json.dumps(value)) == value
    assert parse(json.dumps(value, ensure_ascii=False)) == value


@properties
@given(st.text() | st.text(st.sampled_from('{}[]":,\\ 01eN')))
@example('"' + '\\"' * 3000 + "[" * 101)
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        found = parse(text)
    except ArgumentsError:
        found = {}
    assert type(found) is dict


@pytest.mark.parametrize(
    ("annotation", "given_", "got"),
    [
        (int, 3, 3),
        (int, "3", 3),
        (int, 3.0, 3),
        (float, 3, 3.0),
        (float, "2.5", 2.5),
        (bool, "true", True),
        (str, "x", "x"),
        (str | None, None, None),
        (list[int], ["1", 2], [1, 2]),
        (tuple[int, str], [1, "a"], (1, "a")),
        (tuple[int, ...], [1, 2], (1, 2)),
        (set[str], ["a", "b", "a"], {"a", "b"}),
        (frozenset[int], [1], frozenset({1})),
        (dict[str, int], {"a": "1"}, {"a": 1}),
        (Literal["a", 1], 1, 1),
        (Unit, "C", Unit.CELSIUS),
        (Unit | None, "F", Unit.FAHRENHEIT),
        (float | int, 3, 3),
        (float | None, 3, 3.0),
        (list[int] | dict[str, int], {"a": 1}, {"a": 1}),
        (Any, {"free": [1, None]}, {"free": [1, None]}),
        (datetime.date, "2020-01-02", datetime.date(2020, 1, 2)),
        (bytes, "abc", b"abc"),
        (Annotated[int, Field(ge=0)], "7", 7),
        (Order, {"item": "x", "day": "2020-01-02"}, Order(item="x", day=datetime.date(2020, 1, 2))),
    ],
)
def test_values_are_read_into_their_types(annotation: Any, given_: Any, got: Any) -> None:
    value = read(annotation, given_)
    assert value == got
    assert type(value) is type(got)


@pytest.mark.parametrize(
    ("annotation", "value", "words"),
    [
        (int, "three", "'x': Input should be a valid integer"),
        (int, 3.5, "valid integer"),
        (int, None, "(got None)"),
        (str, 3, "valid string"),
        (list[int], [1, "y"], "'x': at 1:"),
        (Literal["a"], "b", "'a'"),
        (Literal[1], 2, "Input should be 1"),
        (Unit, "K", "'C' or 'F'"),
        (tuple[int, int], [1], "at 1: Field required"),
        (Order, {"item": "x", "count": 0}, "at count: Input should be greater than or equal to 1"),
        (Order, {}, "at item: Field required"),
        (datetime.date, "soon", "date"),
    ],
)
def test_what_does_not_fit_is_told_in_a_line(annotation: Any, value: Any, words: str) -> None:
    with pytest.raises(ArgumentsError) as caught:
        read(annotation, value)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "pydantic" not in str(caught.value)


PLAIN = st.recursive(
    st.sampled_from([str, int, float, bool, None, Literal["a", "b"], Unit]),
    lambda inner: st.builds(lambda t: list[t], inner) | st.builds(lambda t: dict[str, t], inner)
    | st.builds(lambda a, b: tuple[a, b], inner, inner) | st.builds(lambda t: Optional[t], inner),  # noqa: UP045
    max_leaves=4,
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, "a", "C", "1"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("k"), inner),
    max_leaves=4,
)


@properties
@given(PLAIN, VALUES)
def test_the_quick_reading_agrees_with_pydantic(annotation: Any, value: Any) -> None:
    try:
        wanted = TypeAdapter(annotation).validate_json(json.dumps(value))
    except ValueError:
        with pytest.raises(ArgumentsError):
            read(annotation, value)
    else:
        got = read(annotation, value)
        assert (got, repr(got)) == (wanted, repr(wanted))


def weather(city: str, days: int = 1) -> str: ...  # type: ignore[empty-body]


WEATHER = read_signature(weather, tool="weather")


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(ArgumentsError) as caught:
        bind(WEATHER, {"town": "Paris", "days": "x"}, {}, tool="weather")
    text = str(caught.value)
    for words in ("no parameter 'town'", "'city' is required", "'days': Input", "'city', 'days'."):
        assert words in text


def test_a_flood_of_faults_stays_short() -> None:
    many = {f"key_{n}" * 50: n for n in range(500)}
    with pytest.raises(ArgumentsError) as caught:
        bind(WEATHER, many, {}, tool="weather")
    assert "more faults" in str(caught.value)
    assert len(str(caught.value)) < 1_500


def hosted(city: str, robot: Any, secret: str = "none") -> None: ...


HOSTED = read_signature(hosted, tool="hosted", inject=("robot", "secret"))


@properties
@given(st.dictionaries(st.sampled_from(["city", "robot", "secret", "run", "other"]), st.text()))
def test_the_model_never_fills_what_the_host_injects(written: dict[str, Any]) -> None:
    host = {"robot": "ours", "context": {"secret": "key"}}
    if "city" in written and not written.keys() & {"run", "other"}:
        assert bind(HOSTED, written, host, tool="hosted") == {
            "city": written["city"],
            "robot": "ours",
            "secret": "key",
        }
    else:
        with pytest.raises(ArgumentsError) as caught:
            bind(HOSTED, written, host, tool="hosted")
        assert "secret" not in str(caught.value)


def test_a_default_stands_where_the_host_has_nothing() -> None:
    written = {"city": "x", "secret": "from the model"}
    assert bind(HOSTED, written, {"robot": 1}, tool="hosted") == {"city": "x", "robot": 1}
    with pytest.raises(ConfigurationError, match=r"'hosted'.*'robot'.*context"):
        bind(HOSTED, written, {}, tool="hosted")


def test_declared_schemas_check_names_and_simple_types() -> None:
    schema = {
        "properties": {
            "n": {"type": "integer"},
            "unit": {"enum": ["C", "F"]},
            "many": {"type": ["string", "null"]},
            "deep": {"oneOf": [{"type": "string"}]},
        },
        "required": ["n"],
    }
    signature = declared_signature(schema, lambda **_: None, tool="t")
    given_ = {"n": "3", "unit": "C", "many": None, "deep": [1]}
    assert bind(signature, given_, {}, tool="t") == {**given_, "n": 3}
    for wrong in ({}, {"n": 1, "unit": "K"}, {"n": "x"}, {"n": 1, "more": 1}):
        with pytest.raises(ArgumentsError):
            bind(signature, wrong, {}, tool="t")


def test_open_schemas_take_other_names() -> None:
    for schema in ({"type": "object"}, {"properties": {"a": {}}, "additionalProperties": True}):
        signature = declared_signature(schema, lambda **_: None, tool="t")
        assert bind(signature, {"b": [1]}, {}, tool="t") == {"b": [1]}
