"""What becomes a tool, what it is called, and how tools are kept."""

from __future__ import annotations

import copy
import functools
import gc
import pickle
import weakref
from typing import Any

import pytest

from robotlab_nb.core.errors import ConfigurationError, ToolNotFoundError, UnknownKeyword
from robotlab_nb.tools.decorator import Tool, ToolManifest, as_tool, tool


def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"sunny in {city}"


def add(a: int, b: int = 1) -> int:
    return a + b


@tool(timeout=5, name="quick_add")
def decorated(a: int) -> int:
    return a


class WeatherTool(Tool):
    """Weather, looked up.

    Parameters
    ----------
    key : str
        A key.
    """

    timeout = 3.0

    def __init__(self, key: str = "k") -> None:
        self.key = key  # no super().__init__(): it is not needed

    def execute(self, city: str) -> str:
        """Not this one."""
        return f"{self.key} {city} {self.robot}"


class Service:
    def __init__(self, base: int) -> None:
        self.base = base

    def lift(self, by: int) -> int:
        """Lift it."""
        return self.base + by

    @tool(timeout=2)
    def decorated_lift(self, by: int) -> int:
        return self.base + by

    def __call__(self, x: int) -> int:
        """Called."""
        return self.base * x


def test_a_function_is_a_tool() -> None:
    made = as_tool(get_weather)
    assert (made.name, made.description) == ("get_weather", "Weather of a city.")
    assert made.source == "function in test_tool.py"
    assert made("Paris") == "sunny in Paris"
    assert (made.timeout, made.loop, made.raise_on_error) == (None, "engine", None)
    assert made.spec.parameters is made.parameters
    assert as_tool(add).description == ""


def test_a_function_has_one_tool_for_its_life() -> None:
    def local(x: int) -> int:
        return x

    first = as_tool(local)
    assert all(as_tool(local) is first for _ in range(1000))

    @functools.wraps(local)
    def wrapper(x: int) -> int:
        return local(x)

    assert as_tool(wrapper) is not first
    assert as_tool(wrapper).function is wrapper


def test_the_tool_of_a_function_dies_with_it() -> None:
    def local(x: int) -> int:
        return x

    gone = weakref.ref(as_tool(local))
    del local
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (functools.partial(add, b=2), "add"),
        (Service(1).lift, "lift"),
        (Service(2), "service"),
        (WeatherTool, "weather"),
        (WeatherTool(), "weather"),
    ],
    ids=["partial", "method", "object", "class", "instance"],
)
def test_what_else_is_a_tool(thing: Any, name: str) -> None:
    assert as_tool(thing).name == name


def test_builtins_are_tools_when_their_arguments_have_names() -> None:
    assert as_tool(pow)(2, 3) == 8
    with pytest.raises(ConfigurationError, match="positional-only"):
        as_tool(len)


def test_methods_and_objects_are_bound() -> None:
    assert as_tool(Service(1).lift)(by=2) == 3
    assert list(as_tool(Service(1).lift).parameters["properties"]) == ["by"]
    assert as_tool(Service(1).lift).source == "method in test_tool.py"
    assert as_tool(Service(3))(x=2) == 6
    assert as_tool(Service(3)).description == "Called."


def test_a_decorated_method_is_bound_through_its_object() -> None:
    made = Service(10).decorated_lift
    assert (made(by=1), made.timeout, made.name) == (11, 2, "decorated_lift")
    assert list(made.parameters["properties"]) == ["by"]
    with pytest.raises(ConfigurationError, match="without its object"):
        as_tool(Service.decorated_lift)


@pytest.mark.parametrize("thing", ["get_weather", 3, None, int, Tool, Service, [add]])
def test_what_is_no_tool(thing: Any) -> None:
    with pytest.raises(ConfigurationError, match="Pass"):
        as_tool(thing)


def test_a_lambda_needs_a_name() -> None:
    with pytest.raises(ConfigurationError, match=r'tool\(name="…"\)'):
        as_tool(lambda x: x)
    assert tool(name="twice")(lambda x: x * 2)(2) == 4


def test_a_class_that_needs_arguments_is_explained() -> None:
    class Needy(Tool):
        def __init__(self, key: str) -> None:
            self.key = key

        def execute(self) -> str:
            return self.key

    with pytest.raises(ConfigurationError, match="Make it yourself"):
        as_tool(Needy)


def test_names_are_cleaned_when_derived_and_checked_when_given() -> None:
    def größe(x: int) -> int:
        return x

    assert as_tool(größe).name == "gro_e"
    for bad in ("has space", "", "x" * 65, "a.b", "tool\n"):
        with pytest.raises(ConfigurationError, match="no tool name"):
            tool(name=bad)(add)
    for kind, name in (("HTTPGetTool", "http_get"), ("Tool2", "tool2"), ("ToolBox", "tool_box")):
        made = type(kind, (Tool,), {"execute": lambda self: 1})
        assert made().name == name


def test_a_subclass_says_what_it_is_in_its_body() -> None:
    made = WeatherTool("secret")
    assert made.description == "Weather, looked up."
    assert made.timeout == 3.0
    assert made("Paris") == "secret Paris None"
    assert list(made.parameters["properties"]) == ["city"]

    class Named(WeatherTool):
        name = "forecast"
        description = "Told here."
        loop = "caller"
        raise_on_error = True

        async def execute(self, days: int) -> int:
            return days

    child = Named()
    assert (child.name, child.description, child.timeout) == ("forecast", "Told here.", 3.0)
    assert (child.loop, child.raise_on_error, child.is_async) == ("caller", True, True)

    class Options(Tool):
        def __init__(self) -> None:
            super().__init__(timeout=9)

        def execute(self) -> None: ...

    assert Options().timeout == 9

    class Empty(Tool):
        pass

    with pytest.raises(ConfigurationError, match="without `execute`"):
        Empty()


def test_an_owner_is_bound_on_attach_and_never_shared() -> None:
    made = WeatherTool("k")
    one, two = object(), object()
    assert made.attached_to(one) is made
    assert made.robot is one
    other = made.attached_to(two)
    assert other is not made
    assert (made.robot, other.robot, other.key) == (one, two, "k")
    assert other("x") == f"k x {two}"
    plain = as_tool(add)
    assert plain.attached_to(one) is plain
    assert plain.robot is None


def test_a_factory_takes_any_json_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"unit": {"type": "string", "enum": ["C", "F"]}},
        "required": ["unit"],
    }
    made = Tool.create("read", "Read it.", schema, lambda **given: given, source="mcp lab")
    assert (made.name, made.description, made.source) == ("read", "Read it.", "mcp lab")
    assert made.parameters == schema
    assert made(unit="C") == {"unit": "C"}
    assert Tool.create("bare", function=lambda: 1).parameters["properties"] == {}
    with pytest.raises(ConfigurationError, match="made of a function"):
        Tool.create("nothing")


def test_the_decorator_sets_options() -> None:
    assert (decorated.name, decorated.timeout) == ("quick_add", 5)

    @tool
    def bare(x: int) -> int:
        return x

    assert isinstance(bare, Tool)
    assert as_tool(bare) is bare
    with pytest.raises(UnknownKeyword, match="Did you mean 'timeout'"):
        tool(timeot=3)  # type: ignore[call-overload]
    for bad in (0, -1, "5", True, float("nan")):
        with pytest.raises(ConfigurationError, match="timeout"):
            tool(timeout=bad)(add)
    with pytest.raises(ConfigurationError, match=r"inject=\('run',\)"):
        tool(inject="run")(lambda run: 1)
    for thing in (WeatherTool, bare):
        with pytest.raises(ConfigurationError, match="for functions"):
            tool(thing)


def test_only_async_functions_run_on_the_callers_loop() -> None:
    with pytest.raises(ConfigurationError, match="sync function"):
        tool(loop="caller")(add)
    with pytest.raises(ConfigurationError, match="no loop 'cell'"):
        tool(loop="cell")(add)

    async def fetch(url: str) -> str:
        return url

    async def pages(url: str):
        yield url

    assert tool(loop="caller")(fetch).is_async
    assert tool(loop="caller")(pages).is_async
    assert as_tool(functools.partial(fetch, url="x")).is_async
    assert not as_tool(add).is_async


def test_the_schema_key_follows_what_a_model_is_told() -> None:
    same = tool(timeout=9)(add)
    assert same.schema_key == as_tool(add).schema_key
    assert tool(description="Other.")(add).schema_key != same.schema_key
    assert len(same.schema_key) == 64


def test_tools_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(as_tool(get_weather))) is as_tool(get_weather)
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    assert copy.deepcopy(decorated) is decorated
    renamed = tool(name="weather2", timeout=4)(get_weather)
    again = pickle.loads(pickle.dumps(renamed))
    assert (again.name, again.timeout, again.function) == ("weather2", 4, get_weather)
    declared = Tool.create("d", "D.", {"properties": {"a": {"type": "integer"}}}, add)
    assert pickle.loads(pickle.dumps(declared)).parameters == declared.parameters
    owned = WeatherTool("key").attached_to("someone")
    again = pickle.loads(pickle.dumps(owned))
    assert (again.key, again.robot, again.timeout) == ("key", None, 3.0)


def test_a_tools_repr_never_raises() -> None:
    assert "get_weather" in repr(as_tool(get_weather))


def test_a_manifest_is_ordered_and_keyed_by_name() -> None:
    tools = ToolManifest([as_tool(get_weather), as_tool(add), as_tool(add)])
    assert tools.names == ("get_weather", "add")
    assert [one.name for one in tools] == ["get_weather", "add"]
    assert ("add" in tools, "sub" in tools, as_tool(add) in tools) == (True, False, True)
    assert (len(tools), tools["add"], tools.fetch("add")) == (2, as_tool(add), as_tool(add))
    assert (tools.get("sub"), bool(ToolManifest())) == (None, False)
    assert [spec.name for spec in tools.specs] == ["get_weather", "add"]
    for look in (tools.fetch, tools.__getitem__):
        with pytest.raises(ToolNotFoundError, match="Did you mean 'get_weather'"):
            look("get_wether")


def test_a_manifests_key_follows_its_tools() -> None:
    one, two = as_tool(get_weather), as_tool(add)
    assert ToolManifest([one, two]).key != ToolManifest([two, one]).key
    assert ToolManifest([one]).key == ToolManifest([one]).key
    assert ToolManifest().key == ""


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"function in test_tool.py.*mcp lab"):
        ToolManifest([as_tool(add), Tool.create("add", "", None, lambda: 1, source="mcp lab")])
    service = Service(1)
    assert len(ToolManifest([as_tool(service.lift), as_tool(service.lift)])) == 1
    with pytest.raises(ConfigurationError, match="two tools are called 'lift'"):
        ToolManifest([as_tool(Service(1).lift), as_tool(Service(2).lift)])
