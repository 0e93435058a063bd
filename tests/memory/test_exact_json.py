"""Python values as JSON and back: the very same values, or a refusal."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import fractions
import json
import math
import pathlib
import uuid
import zoneinfo
from collections import OrderedDict, namedtuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotlab_nb.memory.exact_json import NotExact, decoded, encoded

zones = st.sampled_from(
    [None, dt.UTC, dt.timezone(dt.timedelta(minutes=-330)), zoneinfo.ZoneInfo("Europe/Paris")]
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(),
    st.binary().map(bytearray), st.complex_numbers(), st.decimals(), st.fractions(), st.uuids(),
    st.dates(), st.timedeltas(), st.integers().map(lambda n: n << 9000),
    st.datetimes(timezones=zones, allow_imaginary=True), st.times(timezones=zones),
    st.text("ab/.", max_size=5).map(pathlib.PurePosixPath),
    st.text(st.characters(categories=["Cs"]), max_size=3),
)  # fmt: skip
hashable = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary(),
    st.tuples(st.integers(), st.text()), st.just("$"),
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(hashable, inner, max_size=4), st.sets(hashable, max_size=4),
        st.frozensets(hashable, max_size=4),
    ),
    max_leaves=12,
)  # fmt: skip


def same(one, other):
    """Equal in type, sign, NaN and order, all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same(list(one.items()), list(other.items()))
    if isinstance(one, (set, frozenset)):
        return one == other and {(type(x), x) for x in one} == {(type(x), x) for x in other}
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, (complex, decimal.Decimal)):
        return repr(one) == repr(other)
    if isinstance(one, (dt.datetime, dt.time)):
        zone = getattr(one.tzinfo, "key", one.tzinfo) == getattr(other.tzinfo, "key", other.tzinfo)
        return (
            zone
            and one.replace(tzinfo=None) == other.replace(tzinfo=None)
            and (one.fold == other.fold)
        )
    return bool(one == other)


@given(values)
def test_every_value_comes_back_the_very_same(value):
    text = json.dumps(encoded(value))
    assert same(decoded(json.loads(text)), value)


def test_plain_json_stays_as_it_is():
    plain = {"a": [1, 2.5, "x", None, True], "b": {"c": {}}}
    assert encoded(plain) == plain


class Colour(enum.IntEnum):
    RED = 1


class Zone(dt.tzinfo):
    pass


holds_itself: list = []
holds_itself.append(holds_itself)
AT = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (object(), "key 'x' is of type object"),
        ({"a": [1, print]}, r"key 'x'\['a'\]\[1\] is of type builtin"),
        (Colour.RED, "Colour"),
        (OrderedDict(a=1), "collections.OrderedDict"),
        (namedtuple("P", "x")(1), "P, which"),
        ({(1, object())}, "type object"),
        ({object(): 1}, "a key of key 'x'"),
        (holds_itself, "holds itself"),
        (AT.replace(tzinfo=Zone()), "time zone of type Zone"),
        (AT.replace(tzinfo=dt.timezone(dt.timedelta(hours=1), "X")), "time zone"),
    ],
)
def test_what_cannot_be_written_exactly_is_refused_and_its_place_is_named(value, where):
    with pytest.raises(NotExact, match=where):
        encoded(value, "key 'x'")


@pytest.mark.parametrize(
    "value", [math.nan, -0.0, 1e-320, fractions.Fraction(1, 3), uuid.UUID(int=0)]
)
def test_numbers_and_their_like_by_example(value):
    assert same(decoded(json.loads(json.dumps(encoded(value)))), value)
