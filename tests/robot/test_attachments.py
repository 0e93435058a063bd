"""Files, pictures, tables and addresses that go with a message."""

from __future__ import annotations

import base64
import io
import json
import os
import pickle
import struct
import zlib
from hashlib import sha256
from importlib.util import find_spec

import pandas as pd
import pytest

import robotlab_nb as rl
from robotlab_nb.core import secrets
from robotlab_nb.core.messages import MEDIA_IN_EVENTS, MediaPart, Message, TextPart
from robotlab_nb.models.litellm import LiteLLMModel
from robotlab_nb.models.media_parts import wire_part
from robotlab_nb.models.openai_request import encode
from robotlab_nb.models.protocol import Request
from robotlab_nb.models.tokens import estimate_input
from robotlab_nb.robot.attachments import MOST_BYTES, as_parts
from robotlab_nb.testing import ModelServer


def png(noise: int = 0) -> bytes:
    """A real picture of one pixel, with as many bytes more as wanted."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"\0\0"))
    more = chunk(b"noIs", os.urandom(noise)) if noise else b""
    return b"\x89PNG\r\n\x1a\n" + head + more + pixels + chunk(b"IEND", b"")


WAV = b"RIFF\x24\0\0\0WAVEfmt " + b"\0" * 24
MP3 = b"\xff\xfb\x90\x44" + b"\0" * 60
PDF = b"%PDF-1.7\n%%EOF\n"
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF"
WEBP = b"RIFF\x10\0\0\0WEBPVP8 "


@pytest.mark.parametrize(
    ("name", "data", "mime"),
    [
        ("a.png", png(), "image/png"),
        ("a.JPG", JPEG, "image/jpeg"),
        ("a.gif", b"GIF89a\1\0\1\0", "image/gif"),
        ("a.webp", WEBP, "image/webp"),
        ("a.pdf", PDF, "application/pdf"),
        ("a.wav", WAV, "audio/wav"),
        ("a.mp3", MP3, "audio/mpeg"),
        ("b.mp3", b"ID3\4\0" + MP3, "audio/mpeg"),
        ("a.txt", "Grüße".encode(), "text/plain"),
        ("a.csv", b"a,b\n1,2\n", "text/csv"),
        ("a.json", b"{}", "text/plain"),
        ("noname", png(), "image/png"),
        ("script.py", b"print(1)", "text/plain"),
    ],
)
def test_a_file_is_what_its_bytes_say(tmp_path, name, data, mime):
    path = tmp_path / name
    path.write_bytes(data)
    for given in (path, str(path)):
        (part,) = as_parts([given])
        assert (part.mime, part.name, part.data) == (mime, name, data)
        assert (part.sha256, part.size) == (sha256(data).hexdigest(), len(data))


def test_utf_16_is_text_and_no_sound():
    (part,) = as_parts([("a.txt", "Hello".encode("utf-16"))])
    assert part.as_text() == "Hello"


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.png", JPEG, "a.png is called image/png and holds image/jpeg"),
        ("a.pdf", b"just words", "a.pdf is called application/pdf and holds text/plain"),
        ("a.txt", png(), "a.txt is called text/plain and holds image/png"),
        ("a.bin", b"\0\1\2\3", "a.bin is of no kind that is known"),
        ("a.txt", b"\xff\xc3\x28", "of no kind"),
        ("a.txt", b"", "a.txt is empty"),
    ],
)
def test_a_name_that_says_otherwise_is_an_error(tmp_path, name, data, told):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(rl.InputError, match=told):
        as_parts([tmp_path / name])


def test_a_missing_file_is_named_with_the_near_one(tmp_path):
    (tmp_path / "chart.png").write_bytes(png())
    with pytest.raises(rl.InputError, match=r"attachments\[1\]: there is no file .*chrat.png") as e:
        as_parts([("ok.txt", b"fine"), tmp_path / "chrat.png"])
    assert "Did you mean 'chart.png'?" in str(e.value)
    with pytest.raises(rl.InputError, match="There is no folder"):
        as_parts(tmp_path / "nowhere" / "a.png")


def test_folders_pipes_and_texts_are_refused(tmp_path):
    with pytest.raises(rl.InputError, match="is a folder"):
        as_parts([tmp_path])
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(rl.InputError, match="not a regular file"):
        as_parts([tmp_path / "pipe"])
    with pytest.raises(rl.InputError, match="a text, not a path"):
        as_parts(["first line\nsecond line"])
    with pytest.raises(rl.InputError, match="a int cannot be attached"):
        as_parts([3])


def test_twenty_megabytes_are_the_most():
    with pytest.raises(rl.InputError, match="more than the 20.0 MB"):
        as_parts([b"x" * (MOST_BYTES + 1)])
    assert as_parts([b"x" * MOST_BYTES])[0].size == MOST_BYTES


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    with open(tmp_path / "film.png", "wb") as file:
        file.truncate(MOST_BYTES + 1)
    monkeypatch.setattr(type(tmp_path), "read_bytes", lambda self: pytest.fail("read"))
    with pytest.raises(rl.InputError, match="film.png has 20.0 MB"):
        as_parts([tmp_path / "film.png"])


def test_bytes_may_bring_a_name_or_a_type():
    assert as_parts([png()])[0].name is None
    assert as_parts([("x.png", png())])[0].name == "x.png"
    assert as_parts([("image/png", png())])[0] == as_parts([png()])[0]
    given = {"data": b"# Hi", "name": "x", "mime": "text/markdown"}
    assert as_parts(given) == [MediaPart.of(b"# Hi", "text/markdown", "x")]
    assert as_parts([{"data": MP3, "mime": "audio/mp3"}])[0].mime == "audio/mpeg"
    with pytest.raises(rl.InputError, match="called image/gif and holds image/png"):
        as_parts([{"data": png(), "mime": "image/gif"}])
    with pytest.raises(rl.InputError, match="no field 'nmae'.*Did you mean 'name'"):
        as_parts([{"data": b"x", "nmae": "x"}])


def test_an_address_goes_to_the_provider_as_it_is():
    (part,) = as_parts("https://example.org/pictures/cat.png?size=2")
    assert (part.mime, part.name, part.base64) == ("image/png", "cat.png", None)
    assert as_parts(["http://example.org/picture"])[0].mime == "image/*"
    for address in ("https://example.org/a.pdf", "https://example.org/a.csv"):
        with pytest.raises(rl.InputError, match="Download it"):
            as_parts([address])
    with pytest.raises(rl.InputError, match="begin with https://"):
        as_parts(["ftp://example.org/cat.png"])
    encoded = base64.b64encode(png()).decode()
    assert as_parts([f"data:image/png;base64,{encoded}"])[0].data == png()
    with pytest.raises(rl.InputError, match="data: address"):
        as_parts(["data:image/png;base64,***"])


def test_open_files_and_things_that_draw_themselves(tmp_path):
    (tmp_path / "a.png").write_bytes(png())
    with open(tmp_path / "a.png", "rb") as file:
        assert as_parts([file])[0].name == "a.png"
    assert as_parts([io.StringIO("words")])[0].as_text() == "words"

    class Drawn:
        def _repr_png_(self):
            return png(), {"width": 1}

    class Figure:
        def savefig(self, file, format):
            file.write(png())

    class Image:
        mode, size = "L", (1, 1)

        def save(self, file, format):
            assert format == "PNG"
            file.write(png())

    class Broken:
        def _repr_png_(self):
            raise OSError("no screen")

    assert [p.data for p in as_parts([Drawn(), Figure(), Image()])] == [png()] * 3
    with pytest.raises(rl.InputError, match="the Broken could not be drawn: OSError: no screen"):
        as_parts([Broken()])


def test_a_table_is_its_shape_its_types_and_as_much_as_fits():
    small = pd.DataFrame({"city": ["Paris", "Rome"], "n": [1, 2]})
    (part,) = as_parts(small)
    assert (part.mime, part.name) == ("text/csv", "DataFrame")
    words = part.as_text()
    assert words.startswith("# DataFrame: 2 rows x 2 columns; types: city ")
    assert words.endswith(",city,n\n0,Paris,1\n1,Rome,2\n")
    long = pd.DataFrame({"text": ["words " * 20] * 5000})
    told = as_parts(long)[0].as_text()
    assert len(told) < 31_000
    rows = told.count("words words") // 10
    assert f"[cut: the first {rows:,} of 5,000 rows]" in told
    series = as_parts([pd.Series([1.5, 2.5])])[0].as_text()
    assert series.startswith("# Series: 2 values of type float64\n")
    giant = as_parts([pd.DataFrame({"x": ["y" * 100_000]})])[0].as_text()
    assert len(giant) < 31_000
    assert "[cut: 30,000 of" in giant


# -- a part as data ------------------------------------------------------------------------------


def test_a_message_is_known_by_the_hash_of_its_media_and_says_little_about_them():
    data = png(12_000)
    message = Message("user", [TextPart("What is it?"), *as_parts([("chart.png", data)])])
    assert message.text == "What is it?"
    assert repr(message) == "<user: 'What is it?', image 12 kB>"
    assert repr(message.parts[1]) == "<media chart.png: image 12 kB>"
    same = Message("user", [TextPart("What is it?"), MediaPart.of(data, "image/png", "chart.png")])
    assert same.id == message.id
    other = MediaPart.of(png(12_000), "image/png", "chart.png")
    assert Message("user", [TextPart("What is it?"), other]).id != message.id
    read = Message.from_dict(json.loads(json.dumps(message.to_dict())))
    assert (read, read.id) == (message, message.id)
    assert pickle.loads(pickle.dumps(message)) == message
    assert json.dumps(message.to_dict()).count(base64.b64encode(data).decode()) == 1


def test_events_tell_large_media_by_hash_and_what_is_read_back_cannot_be_sent():
    data = png(MEDIA_IN_EVENTS)
    message = Message("user", [TextPart("Look"), *as_parts([("big.png", data)])])
    small = Message("user", as_parts([("small.png", png())]))
    told = message.to_dict(most_media=MEDIA_IN_EVENTS)
    assert len(json.dumps(told)) < 500
    assert small.to_dict(most_media=MEDIA_IN_EVENTS) is small.to_dict()
    assert Message.from_dict(told) is message  # in this process nothing is lost
    assert message.heavy_media() == (message.parts[1],)
    assert small.heavy_media() == ()
    read = Message.from_dict(json.loads(json.dumps(told)))
    assert read.id == message.id
    assert repr(read) == "<user: 'Look', image 1.0 MB, bytes not kept>"
    assert read.parts[1].data is None
    with pytest.raises(rl.InputError, match="big.png .* cannot be sent: its bytes are not here"):
        encode(Request((read,)), "m")


def test_stored_bytes_that_were_changed_are_noticed():
    stored = Message("user", as_parts([("a.txt", b"pay 10")])).to_dict()
    stored = json.loads(json.dumps(stored))
    stored["parts"][0]["base64"] = base64.b64encode(b"pay 99").decode()
    with pytest.raises(rl.InputError, match=r"parts\[0\].*not those that its SHA-256 names"):
        Message.from_dict(stored)
    stored["parts"][0]["base64"] = "not base64!"
    with pytest.raises(rl.InputError, match="not base64"):
        Message.from_dict(stored)


@pytest.fixture
def secret():
    secrets.register_secret("canary-0123456789", "CANARY")
    yield "canary-0123456789"
    secrets.forget()


def test_a_secret_in_a_text_is_masked_and_one_in_a_picture_refused(secret):
    words = f"KEY={secret} and more".encode()
    (part,) = as_parts([(".env", words)])
    assert part.as_text() == "KEY=[redacted: CANARY] and more"
    with pytest.raises(rl.InputError, match="image 6. B. holds the registered secret CANARY"):
        as_parts([png()[:45] + secret.encode()])
    # nor does it get into the record with a message that somebody made
    made = Message("user", [TextPart("Look"), MediaPart.of(words, "text/plain", ".env")])
    with ModelServer(["Fine."]) as server:
        result = rl.build("eye", model=server.model()).run(made)
        assert secret not in str(server.requests[0].messages)
    assert result.messages[0].parts == (TextPart("Look"), part)
    assert result.messages[0].to_dict()["parts"][1]["base64"] == part.base64


# -- on the wire -----------------------------------------------------------------------------------

URL = "https://example.org/cat.png"
ALL = [("a.png", png()), ("a.wav", WAV), ("a.mp3", MP3), ("a.pdf", PDF), ("a.txt", b"milk"), URL]


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


WIRE = [
    {"type": "text", "text": "What are these?"},
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64(png())}"}},
    {"type": "input_audio", "input_audio": {"data": b64(WAV), "format": "wav"}},
    {"type": "input_audio", "input_audio": {"data": b64(MP3), "format": "mp3"}},
    {
        "type": "file",
        "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{b64(PDF)}"},
    },
    {"type": "text", "text": "[attached: a.txt]\nmilk\n[end of a.txt]"},
    {"type": "image_url", "image_url": {"url": URL}},
]


def test_a_robot_sends_what_is_attached_and_keeps_it_in_its_conversation():
    with ModelServer(["A cat.", "Still a cat."]) as server:
        bot = rl.build("eye", model=server.model())
        assert bot.run("What are these?", attachments=ALL).text == "A cat."
        assert bot.run("Sure?").text == "Still a cat."
        assert server.requests[0].messages == [{"role": "user", "content": WIRE}]
        assert server.requests[1].messages[0] == {"role": "user", "content": WIRE}
    assert bot.messages[0].text == "What are these?"


def test_a_run_keeps_large_media_itself_and_its_record_their_hash():
    data = png(MEDIA_IN_EVENTS)
    with ModelServer(["A cat.", "Still."]) as server:
        bot = rl.build("eye", model=server.model())
        result = bot.run("Look", attachments=[("big.png", data), ("small.png", png())])
        again = bot.run("Sure?")
        sent = server.requests[1].messages[0]["content"][1]["image_url"]["url"]
        assert sent == f"data:image/png;base64,{b64(data)}"
    assert result.values[sha256(data).hexdigest()].data == data
    for one in (result, again):
        record = json.dumps([event.to_dict() for event in one.events])
        assert b64(data)[:1000] not in record
        assert sha256(data).hexdigest() in record
        assert b64(png()) in record
    read = rl.RobotResult.from_dict(json.loads(json.dumps(result.to_dict())))
    assert read.messages[0].id == result.messages[0].id
    assert read.conversation == tuple(bot.messages[:2])


async def test_attachments_in_async_code_and_without_words():
    with ModelServer(["A cat."]) as server:
        bot = rl.build("eye", model=server.model())
        assert (await bot.arun(attachments=[URL])).text == "A cat."
        assert server.requests[0].messages == [{"role": "user", "content": [WIRE[-1]]}]


def test_a_bad_attachment_is_told_before_any_request(tmp_path):
    with ModelServer([]) as server:
        bot = rl.build("eye", model=server.model())
        with pytest.raises(rl.InputError, match="there is no file"):
            bot.run("Look", attachments=[tmp_path / "none.png"])
        assert server.requests == []


@pytest.mark.xdist_group("litellm")
def test_litellm_is_given_the_same_parts():
    if find_spec("litellm") is None:
        pytest.skip("litellm is not installed")
    with ModelServer(["A cat."]) as server:
        model = LiteLLMModel("openai/m", api_base=server.base_url, api_key="test-key-123")
        rl.build("eye", model=model).run("What are these?", attachments=ALL)
        assert server.requests[0].messages == [{"role": "user", "content": WIRE}]


def test_what_no_model_takes_is_refused_when_it_is_sent():
    with pytest.raises(rl.InputError, match="x.zip is application/zip, which models cannot"):
        wire_part(MediaPart.of(b"PK", "application/zip", "x.zip"))


def test_media_count_as_tokens():
    def tokens(*things):
        return estimate_input([Message("user", as_parts(list(things)))])

    assert tokens(png()) == 1_004
    assert tokens(("a.txt", b"word " * 100)) == 4 + 125
    assert tokens(("a.pdf", PDF + b" " * 30_000)) == 4 + 1_000
    read = Message.from_dict({**Message("user", as_parts([png()])).to_dict()})
    assert estimate_input([read]) == 1_004


def test_pictures_of_messages_and_tables_name_what_is_attached():
    result = rl.build("eye", model=rl.SimulatedModel(["A cat."])).run("Look", attachments=ALL)
    assert "attached: a.png: image" in result.messages[0]._repr_html_()
    content = result.frames.messages["content"].iloc[0]
    assert b64(PDF) not in content
    assert sha256(PDF).hexdigest() in content
