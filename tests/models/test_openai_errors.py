"""HTTP errors of every shape, and how long they ask us to wait."""

from __future__ import annotations

import json
import pickle
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.models.openai_errors import error_from

if TYPE_CHECKING:
    from robotlab_nb.core.errors import ModelError


def http(status: int, body: Any, headers: dict[str, str] | None = None, **more: Any) -> ModelError:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return error_from(status, headers or {}, raw, "a/b", **more)


def said(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


PAGE = b"<!DOCTYPE html><html><head><title>502: Bad gateway</title></head></html>"
FILTERED = {"code": "ResponsibleAIPolicyViolation"}


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable", "words"),
    [
        (400, said("no", type="invalid_request_error"), "bad_request", False, "no"),
        (400, {"message": "no", "type": "x", "code": "1"}, "bad_request", False, "no"),
        (400, {"error": "no"}, "bad_request", False, "no"),
        (400, {"detail": "no"}, "bad_request", False, "no"),
        (400, [said("no")], "bad_request", False, "no"),
        (400, {"errors": [{"message": "no"}]}, "bad_request", False, "no"),
        (400, "no", "bad_request", False, "no"),
        (400, said("API key not valid."), "auth", False, "not valid"),
        (400, said("x", failed_generation="<f>"), "bad_request", True, "x"),
        (400, said("x", code="content_filter"), "content_filter", False, "x"),
        (400, said("x", code="y", innererror=FILTERED), "content_filter", False, "x"),
        (400, said("x", code="context_length_exceeded"), "context_length", False, "x"),
        (400, said("prompt is too long: 9 tokens > 8"), "context_length", False, "too long"),
        (400, said("x", type="exceed_context_size_error"), "context_length", False, "x"),
        (401, {"detail": "no"}, "auth", False, "no"),
        (402, said("pay"), "auth", False, "pay"),
        (403, said("not yours"), "auth", False, "not yours"),
        (404, said("gone"), "not_found", False, "gone"),
        (408, said("slow"), "timeout", True, "slow"),
        (409, said("busy"), "server", True, "busy"),
        (413, b"<html><title>413 Too Large</title>", "bad_request", False, "not JSON"),
        (422, {"detail": [{"loc": ["body", "n"], "msg": "x"}]}, "bad_request", False, "body.n: x"),
        (429, said("slow down"), "rate_limit", True, "slow down"),
        (429, said("pay", code="insufficient_quota"), "rate_limit", False, "credit"),
        (500, b"", "server", True, "empty body"),
        (500, b"Internal Server Error", "server", True, "Internal Server Error"),
        (502, PAGE, "server", True, "502: Bad gateway"),
        (503, said("loading"), "overloaded", True, "loading"),
        (504, b"", "timeout", True, "empty body"),
        (529, said("Overloaded", type="overloaded_error"), "overloaded", True, "Overloaded"),
        (599, {"error": None}, "server", True, "no reason"),
    ],
)
def test_http_errors(status: int, body: Any, kind: str, retryable: bool, words: str) -> None:
    error = http(status, body)
    assert (error.kind, error.retryable, error.status) == (kind, retryable, status)
    assert error.billed is False
    assert "a/b" in str(error)
    assert words in str(error)
    assert pickle.loads(pickle.dumps(error)).kind == kind


def test_a_server_may_say_whether_to_try_again() -> None:
    assert not http(500, {}, {"x-should-retry": "false"}).retryable
    assert http(400, {}, {"x-should-retry": "true"}).retryable


def test_a_key_that_is_refused_is_named_by_its_variable() -> None:
    assert "OPENAI_API_KEY" in str(
        http(401, {"error": {"message": "no"}}, key_name="OPENAI_API_KEY")
    )


def test_keys_are_blotted_out_and_bodies_cut_short() -> None:
    body = {
        "error": {
            "message": "bad key sk-abcdefghijklmnop for super-secret-value",
            "headers": {"Authorization": "Bearer abcdefghijkl"},
            "more": "x" * 2000,
        }
    }
    error = http(401, body, secrets=["super-secret-value"])
    for text in (str(error), error.body or "", repr(error)):
        assert "abcdefghijkl" not in text
        assert "super-secret" not in text
    assert "[redacted]" in str(error)
    assert len(error.body or "") == 500


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"Retry-After": "2"}, {}, 2.0),
        ({"retry-after": "0.5"}, {}, 0.5),
        ({"retry-after-ms": "1500"}, {}, 1.5),
        ({"retry-after": "1", "retry-after-ms": "0"}, {}, 1.0),
        ({"retry-after": "-5"}, {}, 0.0),
        ({"retry-after": "999999999"}, {}, 999999999.0),
        ({"retry-after": "9" * 400}, {}, 1e15),
        ({"retry-after": "nan"}, {}, None),
        ({"retry-after": "soon"}, {}, None),
        ({"retry-after": ""}, {}, None),
        ({"retry-after": formatdate(1_700_000_030, usegmt=True),
          "date": formatdate(1_700_000_000, usegmt=True)}, {}, 30.0),
        ({"retry-after": formatdate(1_700_000_000, usegmt=True)}, {}, 0.0),
        ({"retry-after": formatdate(1_700_000_060, usegmt=True)}, {}, 10.0),
        ({}, {"error": {"metadata": {"headers": {"X-RateLimit-Reset": "1700000055500"}}}}, 5.5),
        ({}, {"error": {"metadata": {"headers": {"Retry-After": "3"}}}}, 3.0),
        ({}, {"error": {"metadata": {"headers": {"X-RateLimit-Reset": "1600000000000"}}}}, 0.0),
        ({"x-ratelimit-reset": "1700000052000"}, {}, 2.0),
        ({"x-ratelimit-reset": "7"}, {}, 7.0),
        ({}, [{"error": {"details": [{"reason": "x"}, {"retryDelay": "34s"}]}}], 34.0),
        ({}, {"error": {"details": [{"retryDelay": "34.5s"}]}}, 34.5),
        ({}, {"error": {"message": "Please try again in 6m0s."}}, 360.0),
        ({}, {"error": {"message": "Please try again in 20ms."}}, 0.02),
        ({}, {"error": {"message": "Please retry after 7 seconds"}}, 7.0),
        ({}, {"error": {"message": "Please try again in 1h2m3.5s"}}, 3723.5),
        ({}, {"error": {"message": "Please try again later"}}, None),
        ({}, b"<html>", None),
    ],
)  # fmt: skip
def test_how_long_to_wait(
    headers: dict[str, str], body: Any, seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robotlab_nb.models.retry_after.time.time", lambda: 1_700_000_050.0)
    assert http(429, body, headers).retry_after == pytest.approx(seconds)


def test_a_wait_that_a_good_answer_names_is_not_looked_at() -> None:
    assert http(200, b"hello", {"retry-after": "2"}).retry_after is None
