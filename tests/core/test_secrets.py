"""Registered secrets: every spelling is masked, nothing else is, however a text is cut."""

from __future__ import annotations

import base64
import functools
import html
import json
import pickle
import sys
import threading
import types
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core import secrets
from robotlab_nb.core.error_chain import masked
from robotlab_nb.core.messages import Message
from robotlab_nb.core.pickling import refuse_secrets
from robotlab_nb.core.secrets import StreamRedactor, redact, redact_data, register_secret
from robotlab_nb.models.key_refs import KeyRef, remember_all

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "sk-canary-Ab3dEf6hIj9kLm2nOp5q"
MASK = "[redacted: KEY]"
KEYS = {
    "usual": KEY,
    "password": 'p@ss/w+rd "x" & y\\z=~',
    "foreign": "schlüssel-für-дом-😀!",
    "two lines": "-----BEGIN KEY-----\nMIIEvQIBADANBg/kqhkiG9w0+BAQEF\n-----END KEY-----",
    "backslashes": "a\\\\b\\c\\\\\\d'e\\",
}


def small_hexadecimal(text: str) -> str:
    """Percent-encoded, as some write it: digits above 9 in small letters."""
    return "".join(f"%{b:02x}" if chr(b) not in SAFE else chr(b) for b in text.encode())


SAFE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"

ENCODERS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "url": lambda t: quote(t, safe=""),
    "url, slashes kept": quote,
    "form": quote_plus,
    "url in small letters": small_hexadecimal,
    "url twice": lambda t: quote(quote(t, safe=""), safe=""),
    "json": json.dumps,
    "json as it is": lambda t: json.dumps(t, ensure_ascii=False),
    "json in json": lambda t: json.dumps(json.dumps(t)),
    "json in json in json": lambda t: json.dumps(json.dumps(json.dumps(t))),
    "json with escaped slashes": lambda t: json.dumps(t).replace("/", "\\/"),
    "repr": repr,
    "ascii": ascii,
    "repr in json": lambda t: json.dumps(repr(t)),
    "html": html.escape,
    "json in html": lambda t: html.escape(json.dumps(t)),
    "json in url": lambda t: quote(json.dumps(t), safe=""),
    "url in json": lambda t: json.dumps(quote_plus(t)),
}


def base64_of(text: str, *, urlsafe: bool, padded: bool) -> str:
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    found = encode(text.encode()).decode()
    return found if padded else found.rstrip("=")


# -- spellings --------------------------------------------------------------------------------


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("key", KEYS)
def test_every_spelling_is_masked_inside_other_text(key: str, encoder: str) -> None:
    register_secret(KEYS[key], "KEY")
    encode = ENCODERS[encoder]
    written = encode(f'before="{KEYS[key]}" after')
    assert redact(written) == encode('before="QQQQ" after').replace("QQQQ", MASK)


@pytest.mark.parametrize("urlsafe", [False, True])
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("key", KEYS)
def test_base64_is_masked_wherever_the_key_begins_and_ends(
    key: str, padded: bool, urlsafe: bool
) -> None:
    value = KEYS[key]
    register_secret(value, "KEY")
    for before in ("", "u", "me", "user:", "a longer user name:"):
        for after in ("", "x", "yz", ":more of it"):
            written = base64_of(before + value + after, urlsafe=urlsafe, padded=padded)
            left = redact(f"Basic {written}!")
            assert left.count(MASK) == 1
            # What remains are the neighbours, and the letters that hold bits of both.
            rest = left.removeprefix("Basic ").removesuffix("!").replace(MASK, "").rstrip("=")
            assert len(rest) <= (len(before) + len(after)) * 4 / 3 + 3


def test_base64_inside_an_address_is_masked() -> None:
    value = "??>>~~??>>~~secret"  # its base64 has + and /
    register_secret(value, "KEY")
    written = quote(base64_of(value, urlsafe=False, padded=True), safe="")
    assert "%2B" in written or "%2F" in written
    assert redact(f"https://x.example/?auth={written}").count(MASK) == 1


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
values = st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=24).filter(
    lambda t: len(t.strip()) >= 8 and t.strip() not in MASK
)


@given(values, texts, texts, st.sampled_from(sorted(ENCODERS)))
def test_no_value_survives_in_any_spelling(
    value: str, before: str, after: str, encoder: str
) -> None:
    secrets.forget()
    value = value.strip()
    register_secret(value, "KEY")
    if encoder.startswith("repr") and "'" in value + before + after and '"' in value:
        return  # how repr writes one quote depends on the other
    assert MASK in redact(ENCODERS[encoder](before + value + after))
    coded = base64_of(before + value + after, urlsafe=False, padded=True)
    assert MASK in redact(coded)


@given(st.text(max_size=60), st.text(max_size=60))
def test_text_without_the_value_is_the_same_object(before: str, after: str) -> None:
    secrets.forget()
    register_secret(KEY, "KEY")
    text = f"{before}{KEY[:-1]}{after}"
    if KEY not in text:
        assert redact(text) is text


def test_of_two_secrets_one_within_the_other_the_longer_is_masked() -> None:
    register_secret("abcdefghij", "SHORT")
    register_secret("abcdefghijklmnop", "LONG")
    assert redact("abcdefghijklmnop abcdefghijk") == "[redacted: LONG] [redacted: SHORT]k"


def test_a_long_text_is_searched_in_linear_time() -> None:
    for value in KEYS.values():
        register_secret(value, "KEY")
    hostile = {
        "clean": "The quick brown fox jumps over the lazy dog.\n",
        "hits": KEY + " ",
        "nearly": KEY[:-1] + " ",
        "backslashes": "\\",
        "percent": "%25",
        "ampersands": "&amp;",
    }
    for name, piece in hostile.items():
        text = piece * (1_000_000 // len(piece))
        began = perf_counter()
        redact(text)
        # Ten times what it takes on a slow machine; a quadratic search takes minutes.
        assert perf_counter() - began < 10, name


# -- JSON -------------------------------------------------------------------------------------


def test_clean_data_is_not_copied_and_only_what_changed_is() -> None:
    register_secret(KEY, "KEY")
    clean = {"a": [1, None, {"b": "text"}], "t": ("x", 2.5)}
    assert redact_data(clean) is clean
    mixed = {"clean": clean, "dirty": {"list": ["x", f"<{KEY}>"]}, "t": (KEY,)}
    found = redact_data(mixed)
    assert found["clean"] is clean
    assert found["dirty"] == {"list": ["x", f"<{MASK}>"]}
    assert found["t"] == (MASK,)
    assert mixed["t"] == (KEY,), "what was given is not changed"


def test_keys_of_objects_are_masked_and_none_is_lost() -> None:
    register_secret(KEY, "KEY")
    found = redact_data({f"{KEY}": 1, base64_of(KEY, urlsafe=False, padded=False): 2, "c": 3})
    assert list(found.values()) == [1, 2, 3]
    assert KEY not in str(found)


def test_deeply_nested_data_takes_no_longer_than_it_is_deep() -> None:
    register_secret(KEY, "KEY")
    data: Any = KEY
    for _ in range(60):
        data = [{"in": data}]
    assert KEY not in json.dumps(redact_data(data))
    for _ in range(5000):
        data = [data]
    assert "nested too deeply" in str(redact_data({"data": data}))[:200] or redact_data(data)


def test_a_message_whose_text_is_masked_gets_the_id_of_what_it_says() -> None:
    register_secret(KEY, "KEY")
    record = Message("user", f"use {KEY}").to_dict()
    found = redact_data({"message": record})["message"]
    expected = Message("user", f"use {MASK}")
    assert found == expected.to_dict()
    assert Message.from_dict(found) == expected
    untouched = Message("user", "hello").to_dict()
    assert redact_data({"message": untouched})["message"] is untouched


# -- text that streams ------------------------------------------------------------------------


def streamed(pieces: list[str]) -> tuple[str, list[str]]:
    stream = StreamRedactor()
    passed = [stream.feed(piece) for piece in pieces]
    return "".join(passed) + stream.end(), passed


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("encoder", ["plain", "url", "json", "url in small letters"])
def test_a_key_is_masked_whichever_two_pieces_it_comes_in(key: str, encoder: str) -> None:
    register_secret(KEYS[key], "KEY")
    spelt = ENCODERS[encoder](KEYS[key])
    text = f"so {spelt} it {spelt[:7]} is{spelt}{spelt}"
    for cut in range(len(text) + 1):
        whole, passed = streamed([text[:cut], text[cut:]])
        assert whole == redact(text)
        assert spelt not in "".join(passed)


@given(st.data())
def test_however_a_text_is_cut_what_is_passed_on_is_the_masked_text(data: st.DataObject) -> None:
    secrets.forget()
    for name, value in {**KEYS, "start": "sk-canary", "overlap": f"{KEY[3:]}-xy"}.items():
        register_secret(value, name)
    spelt = [encode(value) for value in KEYS.values() for encode in ENCODERS.values()]
    spelt += [base64_of(f"me:{v}", urlsafe=False, padded=True) for v in KEYS.values()]
    part = st.one_of(
        st.sampled_from(spelt),
        st.sampled_from(spelt).map(lambda t: t[: len(t) // 2]),
        st.sampled_from(spelt).map(lambda t: t[len(t) // 2 :]),
        st.text('sk-canary \\%2F"', max_size=6),
    )
    text = "".join(data.draw(st.lists(part, max_size=5)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole, passed = streamed(pieces)
    assert whole == redact(text)
    so_far = ""
    for piece in passed:
        so_far += piece
        assert secrets.found_in(so_far) is None


def test_only_what_may_be_the_start_of_a_secret_is_held_back() -> None:
    register_secret(KEY, "KEY")
    stream = StreamRedactor()
    assert stream.feed("a perfectly usual sentence, ") == "a perfectly usual sentence, "
    assert stream.feed("then sk-can") == "then "
    assert stream.feed("'t") == "sk-can't"
    assert stream.end() == ""


# -- registering ------------------------------------------------------------------------------


def test_a_value_too_short_to_be_told_from_words_is_refused() -> None:
    with pytest.raises(rl.ConfigurationError, match="'PIN' has 4 characters") as caught:
        register_secret(" 1234 ", "PIN")
    assert "at least 8" in str(caught.value)
    assert not secrets.any_known


@pytest.mark.parametrize(("value", "name"), [(None, "a"), (KEY, 5), (KEY, " "), ("redacted", "a")])
def test_what_cannot_be_registered_is_refused_without_being_shown(value: Any, name: Any) -> None:
    with pytest.raises(rl.ConfigurationError) as caught:
        register_secret(value, name)
    assert KEY not in str(caught.value)


def test_a_name_cannot_break_what_it_stands_in() -> None:
    register_secret(KEY, 'my "key"\n<b>\\')
    text = redact(json.dumps({"k": KEY}))
    assert json.loads(text) == {"k": "[redacted: my _key_ _b__]"}


def test_white_space_around_a_value_does_not_count() -> None:
    register_secret(f"  {KEY}\n", "KEY")
    assert redact(f"<{KEY}>") == f"<{MASK}>"


def test_many_threads_may_register_and_mask_at_once() -> None:
    wanted = [f"secret-number-{n:04}" for n in range(200)]

    def work(part: list[str]) -> None:
        for value in part:
            secrets.register(value, "N")
            assert value not in redact(f"a {value} b")

    threads = [threading.Thread(target=work, args=(wanted[n::4],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert redact(" ".join(wanted)) == " ".join(["[redacted: N]"] * 200)


def test_a_key_is_registered_as_soon_as_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    reference = KeyRef.of("SOME_API_KEY")
    assert reference is not None
    assert reference.get() == KEY
    assert redact(KEY) == "[redacted: SOME_API_KEY]"
    KeyRef.of("another-key-0123456789")
    assert redact("another-key-0123456789") == "[redacted: api_key]"


def test_credentials_that_litellm_reads_itself_are_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    remember_all("bedrock")
    assert redact(KEY) == "[redacted: AWS_SECRET_ACCESS_KEY]"


@pytest.mark.parametrize("word", ["EMPTY", "not-needed", "lm-studio", "short"])
def test_what_people_write_where_no_key_is_needed_is_not_masked(word: str) -> None:
    KeyRef.of(word)
    assert redact(f"it is {word}!") == f"it is {word}!"


def test_nothing_shows_the_registered_values() -> None:
    register_secret(KEY, "KEY")
    shown = repr(secrets._known) + repr(secrets._known.forms) + repr(StreamRedactor())
    assert KEY not in shown


def test_the_option_switches_masking_off_and_on() -> None:
    register_secret(KEY, "KEY")
    with rl.options(redact=False):
        assert redact(KEY) == KEY
        assert redact_data({"k": KEY}) == {"k": KEY}
        assert StreamRedactor().feed(KEY) == KEY
    assert redact(KEY) == MASK


# -- errors -----------------------------------------------------------------------------------


def test_our_errors_hold_no_secret_from_the_start() -> None:
    register_secret(KEY, "KEY")
    error = rl.ModelError(f"no {KEY}", hint=f"use {KEY}", body=f"<{KEY}>")
    assert (error.message, error.hint, error.body) == (f"no {MASK}", f"use {MASK}", f"<{MASK}>")
    assert error.args == (f"no {MASK}",)
    error.message = f"task 'a': {KEY}"
    assert str(error) == f"task 'a': {MASK}. use {MASK}"


def test_words_of_other_peoples_errors_are_masked_in_place() -> None:
    register_secret(KEY, "KEY")
    error = ValueError(f"bad {KEY}", {"key": [KEY]})
    error.add_note(f"note {KEY}")
    assert masked(error) is error
    assert KEY not in repr(error) + str(error.__notes__)


def test_a_chain_is_masked_link_by_link() -> None:
    register_secret(KEY, "KEY")
    try:
        try:
            raise KeyError(KEY)
        except KeyError:
            raise OSError(5, f"no {KEY}", f"/{KEY}") from None
    except OSError as caught:
        error = rl.ToolError("it failed")
        error.__cause__ = caught
    assert masked(error) is error
    seen = error.__cause__
    while seen is not None:
        assert KEY not in repr(seen) + str(seen)
        seen = seen.__cause__ or seen.__context__


class Stubborn(Exception):
    def __init__(self) -> None:
        super().__init__()
        self.__class__ = Stubborn

    def __str__(self) -> str:
        return f"always {KEY}"


class Refused(Exception):
    request = types.SimpleNamespace(headers={"Authorization": KEY})


def test_an_error_that_insists_is_replaced_by_one_of_its_name() -> None:
    register_secret(KEY, "KEY")
    found = masked(Stubborn())
    assert type(found).__name__ == "Stubborn"
    assert str(found) == f"always {MASK}"


def test_an_http_clients_error_behind_ours_leaves_its_request_behind() -> None:
    register_secret(KEY, "KEY")
    error = rl.ModelError("no answer")
    error.__context__ = Refused("refused")
    error.__suppress_context__ = True
    masked(error)
    assert type(error.__context__).__name__ == "Refused"
    assert not hasattr(error.__context__, "request")
    assert error.__suppress_context__


def test_members_of_a_group_are_masked() -> None:
    register_secret(KEY, "KEY")
    group = ExceptionGroup("two", [ValueError(KEY), ExceptionGroup("in", [KeyError(KEY)])])
    assert masked(group) is group
    assert KEY not in repr(group)


# -- pickles ----------------------------------------------------------------------------------


def cell(code: str) -> dict[str, Any]:
    """What a notebook's cell defines: functions of a module that cannot be imported."""
    space: dict[str, Any] = {"__name__": "__main__", "KEY": KEY}
    exec(code, space)
    return space


PLACES = {
    "(the default of 'key')": "def f(x, key=KEY): ...",
    "(the default of 'word')": "def f(x, *, word=KEY): ...",
    "('k' from around it)": "def g(k):\n    def f(): return k\n    return f\nf = g(KEY)",
    "(its source)": f"def f(): return 'x{KEY}'",
    "(the global 'KEY')": "def f(): return KEY",
    "f['a'][1]": "f = {'a': [1, KEY]}",
    "a key of f": "f = {KEY: 1}",
    "the object of f": "class A:\n    def m(self): ...\na = A()\na.k = KEY\nf = a.m",
    "f.k": "class A: ...\nf = A()\nf.k = KEY",
    "f": "f = KEY.encode()",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_found_wherever_a_pickle_would_hold_it(place: str) -> None:
    register_secret(KEY, "TOKEN")
    with pytest.raises(rl.ConfigurationError) as caught:
        refuse_secrets("robot 'bob'", {"f": cell(PLACES[place])["f"]})
    assert f"{place} holds the secret TOKEN" in str(caught.value) or (
        place in str(caught.value) and "holds the secret TOKEN" in str(caught.value)
    )
    assert "robot 'bob' is not pickled" in str(caught.value)
    assert KEY not in str(caught.value)


def test_what_is_pickled_by_its_name_alone_may_hold_what_it_likes() -> None:
    register_secret(KEY, "TOKEN")
    module = types.ModuleType("a_module_of_this_test")
    exec("def f(key=KEY): ...\nf.__module__ = 'a_module_of_this_test'", {"KEY": KEY}, vars(module))
    sys.modules[module.__name__] = module
    try:
        refuse_secrets("a tool", {"f": module.f, "g": functools.partial(module.f, 1), "m": module})
    finally:
        del sys.modules[module.__name__]


def test_looking_at_a_circle_ends() -> None:
    register_secret(KEY, "TOKEN")
    circle: list[Any] = [1]
    circle.append(circle)
    refuse_secrets("a list", {"it": circle})


def test_an_errors_pickle_is_masked_even_if_the_secret_came_to_be_known_later() -> None:
    error = rl.ModelError(f"no {KEY}", hint=f"use {KEY}", body=KEY, status=401)
    register_secret(KEY, "KEY")
    data = pickle.dumps(error)
    assert KEY.encode() not in data
    again = pickle.loads(data)
    assert (again.status, str(again)) == (401, f"no {MASK}. use {MASK}")
