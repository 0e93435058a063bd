"""What models and logs see of the values that tools return."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import hashlib
import json
import math
import pathlib
import subprocess
import sys
import threading
import types
import uuid
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, SecretStr

from robotlab_nb.tools.preview import ITEM_LIMIT, TEXT_LIMIT, Preview, preview

properties = settings(deadline=None, derandomize=True, database=None, max_examples=150)


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Pair(NamedTuple):
    left: int
    right: Any


@dataclasses.dataclass
class Point:
    x: float
    tags: tuple[str, ...] = ()


class Reading(BaseModel):
    value: float
    inner: list[float] = []
    key: SecretStr = SecretStr("hidden-key")


class Loud:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class Client:
    def __repr__(self) -> str:
        return f"<Client at {hex(id(self))}>"


@pytest.mark.parametrize(
    ("value", "content", "data"),
    [
        (None, "no output", None),
        ("", "", ""),
        ("plain <b>", "plain <b>", "plain <b>"),
        (True, "true", True),
        (3, "3", 3),
        (2.5, "2.5", 2.5),
        ([1, "a", None], '[1, "a", null]', [1, "a", None]),
        ({"ü": (1, 2)}, '{"ü": [1, 2]}', {"ü": [1, 2]}),
        ({3, 1, 2}, "[1, 2, 3]", [1, 2, 3]),
        (frozenset({"b", "a"}), '["a", "b"]', ["a", "b"]),
        ({(1, 2): "t", 3: "i", None: "n", Color.RED: "e"},
         '{"(1, 2)": "t", "3": "i", "null": "n", "red": "e"}',
         {"(1, 2)": "t", "3": "i", "null": "n", "red": "e"}),
        (Color.RED, "red", "red"),
        (Level.HIGH, "3", 3),
        (Pair(1, Color.RED), '{"left": 1, "right": "red"}', {"left": 1, "right": "red"}),
        (Point(1.5, ("a",)), '{"x": 1.5, "tags": ["a"]}', {"x": 1.5, "tags": ["a"]}),
        (datetime.date(2020, 1, 2), "2020-01-02", "2020-01-02"),
        (datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC),
         "2020-01-02T00:00:00+00:00", "2020-01-02T00:00:00+00:00"),
        (datetime.timedelta(minutes=1), "0:01:00", "0:01:00"),
        (decimal.Decimal("1.10"), "1.10", "1.10"),
        (uuid.UUID(int=1), str(uuid.UUID(int=1)), str(uuid.UUID(int=1))),
        (pathlib.PurePosixPath("a/b"), "a/b", "a/b"),
        (range(3), "[0, 1, 2]", [0, 1, 2]),
        (collections.deque([1]), "[1]", [1]),
        (types.MappingProxyType({"a": 1}), '{"a": 1}', {"a": 1}),
        (np.int64(7), "7", 7),
        (np.float32(0.5), "0.5", 0.5),
        (np.bool_(True), "true", True),
        (np.datetime64("2020-01-02"), "2020-01-02", "2020-01-02"),
        (pd.Timestamp("2020-01-02"), "2020-01-02T00:00:00", "2020-01-02T00:00:00"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_values_with_a_json_form(value: Any, content: str, data: Any) -> None:
    assert preview(value) == Preview(content, data, lossy=False)


@pytest.mark.parametrize("nest", [
    lambda x: x,
    lambda x: [x],
    lambda x: {"a": {"b": (x,)}},
    lambda x: Point(x),
    lambda x: Reading(value=x, inner=[x]),
    lambda x: np.float64(x),
], ids=["bare", "list", "dict", "dataclass", "model", "numpy"])  # fmt: skip
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_named_and_marked(nest: Any, number: float) -> None:
    seen = preview(nest(number))
    word = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(number)]
    assert seen.lossy
    assert word in seen.content
    assert f'"{word}"' in json.dumps(seen.data, allow_nan=False)


def test_a_models_secrets_stay_hidden() -> None:
    seen = preview(Reading(value=1))
    assert seen.data["value"] == 1
    assert "hidden-key" not in seen.content + json.dumps(seen.data)


def test_a_model_may_hold_what_json_cannot() -> None:
    class Holder(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        table: pd.DataFrame
        raw: bytes = b"\xff"

    seen = preview(Holder(table=pd.DataFrame({"a": [1]})))
    assert seen.data["table"]["shape"] == [1, 1]
    assert seen.data["raw"]["size"] == 1


def test_a_frame_shows_shape_columns_and_head() -> None:
    frame = pd.DataFrame({"city": [f"c{n}" for n in range(1000)], "t": range(1000)})
    seen = preview(frame)
    assert seen.lossy
    assert seen.data["shape"] == [1000, 2]
    assert seen.data["columns"] == ["city", "t"]
    assert seen.data["dtypes"][1] == "int64"
    for words in ("DataFrame: 1,000 rows x 2 columns", "t (int64)", "c9", "first 10 of 1,000 rows"):
        assert words in seen.content
    assert "c10" not in seen.content
    assert preview({"table": frame}).data["table"] == seen.data
    wide = preview(pd.DataFrame(np.zeros((2, 3000))))
    assert "2,950 more" in wide.content
    assert len(json.dumps(wide.data)) < 10_000
    assert preview(pd.DataFrame({"a": [1, 2]}, index=[1, 1])).data["shape"] == [2, 1]
    assert preview(pd.DataFrame([[1, 2]], columns=["a", "a"])).data["columns"] == ["a", "a"]
    assert preview(pd.DataFrame()).data["shape"] == [0, 0]


def test_series_indexes_and_arrays_show_kind_and_head() -> None:
    seen = preview(pd.Series([0.5] * 20, name="t"))
    assert (seen.data["shape"], seen.data["dtype"], seen.data["name"]) == ([20], "float64", "t")
    assert "Series 't': 20 values, float64" in seen.content
    assert preview(pd.Index(["a"])).data["type"] == "Index"
    seen = preview(np.arange(6).reshape(2, 3))
    assert (seen.data["shape"], seen.lossy) == ([2, 3], True)
    assert "ndarray: 2 x 3, int64" in seen.content
    assert len(preview(np.zeros((5000, 5000))).content) < 2_000
    assert preview(pd.NaT).data == "NaT"
    assert "NA" in preview(pd.NA).content
    assert preview(np.longdouble(1)).lossy


def test_hexadecimal_data_in_a_table_stays() -> None:
    for number in ("0x52908400098527886E0F7030069857D2E4169EE7", "0x5290840009852788"):
        assert number in preview(pd.DataFrame({"w": [number]})).content
    assert "0x" not in preview(pd.DataFrame({"w": [object()]})).content


def test_bytes_show_size_hash_and_kind() -> None:
    png = b"\x89PNG\r\n\x1a\n" + bytes(100)
    seen = preview(png)
    assert seen.data == {
        "type": "bytes",
        "size": 108,
        "sha256": hashlib.sha256(png).hexdigest(),
        "media_type": "image/png",
    }
    assert seen.lossy
    assert seen.content.startswith("image/png, 108 bytes, sha256 ")
    assert preview(bytearray(b"ab")).data["sha256"] == hashlib.sha256(b"ab").hexdigest()
    assert preview(memoryview(b"abcd")[::2]).data["sha256"] == hashlib.sha256(b"ac").hexdigest()
    assert "media_type" not in preview(b"").data


def test_an_image_shows_its_measures() -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    picture = image.new("RGB", (3, 2), "red")
    seen = preview(picture)
    assert (seen.data["width"], seen.data["height"], seen.data["mode"]) == (3, 2, "RGB")
    assert seen.data["sha256"] == hashlib.sha256(b"\xff\x00\x00" * 6).hexdigest()
    assert "3 x 2 pixels" in seen.content


@pytest.mark.parametrize("value", [
    threading.Lock(), (n for n in "ab"), Client(), Loud(), object(), print, threading, Client,
    ValueError("x"), lambda: 1, [threading.Lock()],
], ids=lambda value: type(value).__name__)  # fmt: skip
def test_live_objects_show_type_and_no_address(value: Any) -> None:
    seen = preview(value)
    assert seen.lossy
    assert "0x" not in seen.content + json.dumps(seen.data)
    one = value[0] if isinstance(value, list) else value
    assert type(one).__qualname__ in seen.content


def test_a_repr_that_fails_is_told() -> None:
    assert "its repr raised RuntimeError" in preview(Loud()).content


def test_objects_that_fail_while_they_are_read_are_still_shown() -> None:
    class Odd(collections.UserDict[str, int]):
        def items(self) -> Any:
            raise RuntimeError("no items")

    class Endless(list[int]):
        def __iter__(self) -> Any:
            while True:
                yield 1

    seen = preview({"a": Odd(), "b": 1})
    assert (seen.data["b"], seen.lossy) == (1, True)
    assert len(preview(Endless()).data) <= ITEM_LIMIT + 1


def test_cycles_and_depth_end() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    assert preview(loop) == Preview(
        '[1, "(a cycle: the list that holds this)"]',
        [1, "(a cycle: the list that holds this)"],
        lossy=True,
    )
    deep: Any = 1
    for _ in range(10_000):
        deep = [deep]
    seen = preview(deep)
    assert seen.lossy
    assert "nested too deeply" in seen.content
    twice = [1]
    assert preview([twice, twice]) == Preview("[[1], [1]]", [[1], [1]], lossy=False)


def test_huge_strings_are_capped_and_say_so() -> None:
    seen = preview("x" * 200_000_000)
    assert seen.lossy
    assert seen.content.endswith("[cut: the first 50,000 of 200,000,000 characters]")
    assert len(seen.content) < TEXT_LIMIT + 100
    assert seen.data == seen.content
    assert preview("y" * TEXT_LIMIT).lossy is False
    nested = preview({"a": "x" * 100_000, "b": "y" * 100})
    assert nested.lossy
    assert "[cut: 49,999 of 100,000 characters]" in nested.data["a"]
    assert len(json.dumps(nested.data)) < TEXT_LIMIT + 500


def test_long_collections_are_cut_and_say_so() -> None:
    seen = preview(list(range(1_000_000)))
    assert seen.data[-1] == f"… {1_000_000 - ITEM_LIMIT:,} more items"
    assert seen.data[:3] == [0, 1, 2]
    assert len(seen.content) < TEXT_LIMIT + 100
    many = preview({n: n for n in range(100_000)})
    assert many.data["…"].endswith("more entries")
    assert preview({*range(100_000), "a"}).data[-1].endswith("more items")


def test_integers_beyond_decimal_writing_are_marked() -> None:
    assert preview(10**5000).data == "(an integer of 16,610 bits)"
    assert preview({10**5000: 1}).lossy
    assert preview(2**200).data == 2**200


def test_keys_that_json_cannot_tell_apart_both_stay() -> None:
    seen = preview({1: "a", "1": "b", "1 (str)": "c"})
    assert seen.data == {"1": "a", "1 (str)": "b", "1 (str) (str)": "c"}
    assert seen.lossy


def test_surrogates_and_nul_stay_in_the_record_and_can_be_sent() -> None:
    seen = preview("a\ud800b\x00c")
    assert seen.data == "a\ud800b\x00c"
    assert seen.content == "a\\ud800b\x00c"
    assert preview({"k\udfff": "\ud800"}).data == {"k\udfff": "\ud800"}
    preview({"k\udfff": "\ud800"}).content.encode("utf-8")


def test_subclasses_of_plain_types_are_plain() -> None:
    class Text(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "hidden"

    class Tricky(dict[str, int]):
        pass

    assert preview(Text("shown")) == Preview("shown", "shown", lossy=False)
    assert type(preview(Text("shown")).data) is str
    assert preview(Tricky(a=1)).data == {"a": 1}
    assert preview(collections.OrderedDict(b=1, a=2)).content == '{"b": 1, "a": 2}'


LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text()
    | st.binary() | st.dates() | st.decimals() | st.uuids() | st.complex_numbers()
    | st.sampled_from(["\ud800", Color.RED, object, threading.Lock(), Client()])
    | st.sampled_from([np.float64("nan"), pd.NA])
)  # fmt: skip
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner)
    | st.tuples(inner, inner) | st.frozensets(st.text() | st.integers() | st.binary())
    | st.builds(Point, inner),
    max_leaves=15,
)  # fmt: skip


@properties
@given(ANYTHING)
@example({"a": {1, "1"}})
def test_a_preview_never_raises_and_is_valid_json(value: Any) -> None:
    seen = preview(value)
    text = json.dumps(seen.data, allow_nan=False)
    assert json.loads(text) == seen.data
    seen.content.encode("utf-8")
    assert preview(value) == seen


PURE = st.recursive(
    st.none() | st.booleans() | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=15,
)  # fmt: skip


@properties
@given(PURE)
def test_json_comes_through_unchanged(value: Any) -> None:
    seen = preview(value)
    assert (seen.data, seen.lossy) == (value, False)
    if value is not None and not isinstance(value, str):
        assert json.loads(seen.content) == value


def test_a_preview_is_the_same_in_every_process() -> None:
    code = """
import json, threading
from robotlab_nb.tools.preview import preview
class Thing: pass
value = [set("abcdef"), frozenset((c, 1) for c in "abcdef"), {frozenset("abc")}, threading.Lock(),
         Thing(), (n for n in "ab"), print, lambda: 1]
print(json.dumps(preview(value)))
"""
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(pathlib.Path.cwd())},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(seen) == 1


def test_it_imports_nothing_of_the_values_packages() -> None:
    code = """
import sys
from robotlab_nb.tools.preview import preview
preview([1, {"a": object()}, b"x"])
print([m for m in ("pandas", "numpy", "pydantic", "PIL", "decimal", "uuid") if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
