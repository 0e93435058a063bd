"""Documents: what can be stored, what a search finds, files, tools, threads, speed."""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.memory.documents import DocumentHit, Documents
from robotlab_nb.testing import ModelServer, ScriptedModel

PAGES = {
    "refunds": "A refund takes five working days. It goes back to the card that was charged.",
    "delivery": "Parcels are delivered within two days. Delivery abroad takes a week.",
    "returns": "Send an order back within thirty days, and its price is refunded.",
}


@pytest.fixture
def pages():
    documents = Documents()
    documents.store(PAGES, lang="en")
    return documents


def letters(texts):
    """An embedding function: how often each letter occurs."""
    letters.asked.append(list(texts))
    return [[text.lower().count(c) + 0.01 for c in "abcdefghijklmnopqrstuvwxyz"] for text in texts]


letters.asked = []


@pytest.fixture(autouse=True)
def _nothing_asked():
    letters.asked.clear()


# -- searching -------------------------------------------------------------------------------


def test_the_passage_that_fits_best_comes_first(pages):
    hits = pages.search("how many working days until my refund?")
    assert [hit.key for hit in hits] == ["refunds", "returns", "delivery"]
    assert hits[0].text == PAGES["refunds"]
    assert 1 > hits[0].score > hits[1].score > hits[2].score > 0
    assert hits[0].metadata == {"lang": "en"}


def test_a_passage_equal_to_the_query_scores_exactly_1(pages):
    pages.store("ok", key="short")
    assert pages.search("OK")[0][:3] == ("short", "ok", 1.0)
    assert pages.search(f"  {PAGES['delivery'].upper()}\n")[0].score == 1.0


def test_no_word_in_common_is_no_hit_and_a_limit_is_kept(pages):
    assert pages.search("zebra crossing") == []
    assert Documents().search("anything") == []
    assert len(pages.search("days", limit=2)) == len(pages.search("days", 2)) == 2


def test_equally_good_passages_come_in_the_order_stored():
    documents = Documents()
    documents.store({"b": "the same text", "a": "the same text", "c": "the same text"})
    documents.store("the same text", key="b")
    assert [hit.key for hit in documents.search("same text")] == ["b", "a", "c"]
    documents.delete("a")
    documents.store("the same text", key="d")
    assert [hit.key for hit in documents.search("same text")] == ["b", "c", "d"]


def test_equally_good_passages_of_a_text_come_in_its_order():
    documents = Documents(chunk_chars=30, overlap_chars=0)
    for _ in range(2):
        documents.store("The same text again. " * 4, key="k")
        assert [hit.position for hit in documents.search("same text")] == [0, 21, 42, 63]


def test_a_long_text_is_found_by_its_passages_and_their_place_in_it():
    filler = "Robots are built of arms and legs. " * 60
    documents = Documents()
    documents.store(f"{filler}\n\nThe password of the vault is tulip.\n\n{filler}", key="long")
    hit = documents.search("what is the password of the vault?")[0]
    assert "tulip" in hit.text
    assert len(hit.text) <= documents.chunk_chars
    assert documents["long"][hit.position :].startswith(hit.text)
    assert hit.position > 1_000


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        ({"year": 2024}, {"b", "c"}),
        ({"year": [2023, 2024]}, {"a", "b", "c"}),
        ({"tags": "x"}, {"a", "b"}),
        ({"tags": {"y", "z"}}, {"b", "c"}),
        ({"year": 2024, "tags": "x"}, {"b"}),
        ({"year": lambda year: year < 2024}, {"a"}),
        (lambda metadata: not metadata, {"d"}),
        ({}, {"a", "b", "c", "d"}),
        (None, {"a", "b", "c", "d"}),
    ],
)
def test_a_search_may_be_about_some_documents_only(where, keys):
    documents = Documents()
    documents.store("a robot", key="a", year=2023, tags=["x"])
    documents.store("a robot", key="b", year=2024, tags=["x", "y"])
    documents.store("a robot", key="c", year=2024, tags=["z"])
    documents.store("a robot", key="d")
    assert {hit.key for hit in documents.search("robots", where=where)} == keys


def test_questions_that_cannot_be_meant_are_refused(pages):
    with pytest.raises(rl.InputError, match="the query is blank"):
        pages.search(" \n")
    with pytest.raises(rl.InputError, match="limit is a whole number from 1, not 0"):
        pages.search("x", 0)
    with pytest.raises(rl.InputError, match="no document has 'land' .* Did you mean 'lang'"):
        pages.search("x", where={"land": "en"})
    with pytest.raises(rl.InputError, match="neither a dict nor a function"):
        pages.search("x", where="en")
    assert Documents().search("x", where={"anything": 1}) == []


# -- storing ---------------------------------------------------------------------------------


def test_a_text_without_a_key_gets_one_of_its_content_and_is_stored_once():
    documents = Documents()
    key = documents.store("Robots have arms.")
    assert documents.store("Robots have arms.", year=2024) == key
    assert documents.store("Robots have legs.") != key
    assert len(documents) == 2
    assert Documents().store("Robots have arms.") == key
    assert documents.search("arms")[0].metadata == {"year": 2024}


def test_a_known_key_is_replaced_and_nothing_of_the_old_text_is_found(pages):
    assert pages.store("Parrots fly.", key="delivery") == "delivery"
    assert pages["delivery"] == "Parrots fly."
    assert pages.keys() == list(pages) == ["refunds", "delivery", "returns"]
    assert pages.search("parcels abroad") == []
    assert pages.search("parrot")[0].metadata == {}


def test_files_are_read_and_named_by_their_path(tmp_path):
    (tmp_path / "a.md").write_bytes("\ufeffTea is brewed with fresh water.".encode())
    (tmp_path / "b.html").write_text("<h1>Ink</h1><script>tea()</script><p>It dries.</p>")
    (tmp_path / "c.txt").write_text("Grün ist die Hoffnung.", encoding="utf-16")
    documents = Documents()
    key = documents.store(tmp_path / "a.md")
    assert key == (tmp_path / "a.md").as_posix()
    assert documents[key].startswith("Tea")
    assert documents.store(tmp_path / "b.html", key="ink") == "ink"
    assert documents["ink"] == "Ink\nIt dries."
    assert documents.store([tmp_path / "c.txt"]) == [(tmp_path / "c.txt").as_posix()]
    assert [hit.key for hit in documents.search("tea")] == [key]


def test_a_text_that_is_a_files_name_is_stored_and_said(tmp_path, monkeypatch):
    (tmp_path / "notes.txt").write_text("milk")
    monkeypatch.chdir(tmp_path)
    documents = Documents()
    with pytest.warns(UserWarning, match=r"pass Path\('notes.txt'\)"):
        key = documents.store("notes.txt")
    assert documents[key] == "notes.txt"


def test_a_column_of_a_table_is_a_document_a_row_with_columns_beside_it():
    table = pd.DataFrame(
        {
            "text": ["Tea is green.", None, " ", "Ink is blue."],
            "year": [2023, 2024, 2025, 2026],
            "lang": ["en", "en", "en", None],
        },
        index=["t", "u", "v", "w"],
    )
    documents = Documents()
    keys = documents.store(table["text"], key="row", year=table["year"], lang=table.lang, kind="n")
    assert keys == ["row[t]", "row[w]"]
    assert documents.search("ink")[0].metadata == {"kind": "n", "year": 2026}
    assert documents.search("tea", where={"year": 2023})[0].metadata["lang"] == "en"
    assert documents.store(table["text"]) == documents.store(table["text"].reset_index(drop=True))


def test_lists_and_mappings_hold_several(pages):
    assert pages.store(["One.", "Two."], key="n") == ["n[0]", "n[1]"]
    assert len(pages.store(["Three.", "Three."])) == 1
    assert pages.store({}) == pages.store([]) == []


@pytest.mark.parametrize(
    ("given", "key", "said"),
    [
        (" \n", None, "the document is blank"),
        (5, None, "a int cannot be stored"),
        (["fine", ""], None, "document 1 of the list is blank"),
        (["fine", 5], None, "document 1 of the list is a int, not a text"),
        ({"a": "fine", "b": " "}, None, "document 'b' is blank"),
        ({"a": "fine", 5: "x"}, None, "a document's key is a text, not 5"),
        ({"a": "fine"}, "k", "their keys are its own"),
        ("fine", " ", "a document's key is a text, not ' '"),
        (Path("nonesuch.md"), None, "there is no file nonesuch.md"),
        (pd.DataFrame({"a": ["fine"]}), None, "a whole table is no document.*'a'"),
        (pd.Series(["fine", 5], dtype=object), None, "row 1 holds a int, not a text"),
        (pd.Series(["a", "b"], index=[1, 1]), "k", r"two documents have the key 'k\[1\]'"),
    ],
)
def test_when_anything_cannot_be_stored_nothing_is(given, key, said):
    documents = Documents()
    with pytest.raises(rl.InputError, match=said):
        documents.store(given, key)
    assert len(documents) == 0


def test_files_that_hold_no_text_are_refused(tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7\x00\xff\xfe")
    documents = Documents()
    with pytest.raises(rl.InputError, match="no text in UTF-8"):
        documents.store(tmp_path / "a.pdf")
    with pytest.raises(rl.InputError, match="is a folder"):
        documents.store(tmp_path)
    with pytest.raises(rl.InputError, match="Did you mean 'a.pdf'"):
        documents.store(tmp_path / "a.pfd")


@pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}, pd.Timestamp(0), b"x"])
def test_metadata_is_json(value):
    with pytest.raises(rl.InputError, match="metadata 'when' is no JSON"):
        Documents().store("text", when=value)


def test_what_a_hit_says_cannot_change_what_is_stored(pages):
    pages.store("parrots fly", key="p", tags=["a"])
    pages.search("parrot")[0].metadata["tags"].append("b")
    assert pages.search("parrot")[0].metadata == {"tags": ["a"]}


def test_deleting_and_clearing(pages):
    assert pages.delete("refunds")
    assert not pages.delete("refunds")
    assert "refunds" not in pages
    assert {hit.key for hit in pages.search("a refund takes days")} == {"delivery", "returns"}
    with pytest.raises(KeyError, match="Did you mean 'returns'"):
        pages["return"]
    pages.clear()
    assert (len(pages), pages.keys(), pages.search("refund")) == (0, [], [])
    pages.store("refunds again", key="r")
    assert pages.search("refund")[0].key == "r"


texts = st.lists(st.sampled_from("robot arm. table PDF 東京 !!".split()), min_size=1).map(" ".join)
steps = st.lists(st.tuples(st.sampled_from("abc"), texts | st.none()), max_size=8)


@given(steps, texts)
def test_what_is_found_depends_on_what_is_there_alone(steps, query):
    documents = Documents(chunk_chars=20, overlap_chars=5)
    for key, text in steps:
        if text is None:
            documents.delete(key)
        else:
            documents.store(text, key)
    fresh = Documents(chunk_chars=20, overlap_chars=5)
    fresh.store({key: documents[key] for key in documents})
    assert (
        documents.search(query, 50) == fresh.search(query, 50) == documents.copy().search(query, 50)
    )


# -- by meaning ------------------------------------------------------------------------------


def test_an_embedding_function_compares_and_is_asked_once_for_each_passage():
    documents = Documents(embedding_model=letters)
    documents.store({"a": "aaaa bbbb", "z": "zzzz yyyy"})
    assert letters.asked == [["aaaa bbbb", "zzzz yyyy"]]
    assert documents.search("zy")[0].key == "z"
    assert documents.search("AAAA  bbbb")[0].score == 1.0
    documents.store("aaaa bbbb", key="a", year=2024)
    assert letters.asked[1:] == [["zy"], ["AAAA  bbbb"]]
    assert documents.search("ab", where={"year": 2024})[0].key == "a"
    assert repr(documents) == "<Documents: 2, 2 passages, compared by letters>"


def test_a_failed_model_stores_nothing_and_keeps_what_was_there():
    def fails(texts):
        if any("bad" in text for text in texts):
            raise OSError("no connection")
        return letters(texts)

    documents = Documents(embedding_model=fails)
    documents.store("good", key="g")
    with pytest.raises(rl.ModelError, match="no connection"):
        documents.store({"g": "bad", "h": "fine"})
    assert documents.keys() == ["g"]
    assert documents["g"] == "good"


def test_a_model_that_changed_behind_its_name_is_noticed():
    size = [3]
    documents = Documents(embedding_model=lambda texts: [[1.0] * size[0]] * len(texts))
    documents.store("one", key="one")
    size[0] = 4
    with pytest.raises(rl.ConfigurationError, match=r"vectors of 4 numbers, .* have 3"):
        documents.store("two", key="two")
    with pytest.raises(rl.ConfigurationError, match="vectors of 4 numbers"):
        documents.search("one more")
    assert documents.keys() == ["one"]
    documents.delete("one")
    documents.store("two", key="two")
    assert documents.search("two more")[0].key == "two"


def test_the_option_names_the_model_and_a_server_is_asked():
    with ModelServer() as server, rl.options(embedding_model=server.model("embedder")):
        documents = Documents()
        documents.store(PAGES)
        assert documents.search("parcels delivered abroad")[0].key == "delivery"
        sent = [request.body["input"] for request in server.requests]
    assert sent == [list(PAGES.values()), ["parcels delivered abroad"]]


async def test_async_code_stores_and_searches(tmp_path):
    for model in (None, letters):
        documents = Documents(embedding_model=model)
        assert await documents.astore(PAGES, lang="en") == list(PAGES)
        found = await documents.asearch("refund of five working days", 1, where={"lang": "en"})
        assert found == documents.search("refund of five working days", 1)
        with pytest.raises(rl.InputError, match="blank"):
            await documents.asearch(" ")


# -- files -----------------------------------------------------------------------------------


def test_documents_are_read_back_from_their_file(tmp_path, pages):
    pages.store("lone \ud800 surrogate", key="odd", deep={"a": [1, None, "ü"]})
    path = pages.save(tmp_path / "new" / "pages.jsonl")
    read = Documents.load(path)
    assert read.keys() == pages.keys()
    assert read.search("refund days") == pages.search("refund days")
    assert read.search("surrogate") == pages.search("surrogate")
    lines = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    assert lines[0]["documents"] == len(lines) - 1 == 4
    assert lines[1]["key"] == "refunds"
    assert sorted(p.name for p in path.parent.iterdir()) == ["pages.jsonl"]


def test_vectors_are_kept_in_the_file_and_made_anew_for_another_model(tmp_path):
    documents = Documents(embedding_model=letters, chunk_chars=30, overlap_chars=0)
    documents.store(PAGES)
    path = documents.save(tmp_path / "pages.jsonl")
    asked = len(letters.asked)
    read = Documents.load(path, embedding_model=letters)
    assert len(letters.asked) == asked
    assert read.search("parcels") == documents.search("parcels")
    assert read.chunk_chars == 30

    with pytest.raises(rl.ConfigurationError, match="made by letters, which is no model's name"):
        Documents.load(path)

    def others(texts):
        return letters(texts)

    anew = Documents.load(path, embedding_model=others)
    assert len(letters.asked) > asked + 2
    assert anew.search("parcels") == documents.search("parcels")


def test_a_file_by_words_stays_by_words_whatever_the_option_says(tmp_path, pages):
    path = pages.save(tmp_path / "pages.jsonl")
    with rl.options(embedding_model=letters):
        assert Documents.load(path).search("refund days") == pages.search("refund days")
    assert letters.asked == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lines: lines[:-1], "holds 2 of its 3 documents: it was cut"),
        (lambda lines: [*lines[:-1], lines[-1][:-20]], "line 4: this is no stored document"),
        (lambda lines: lines[1:], "is no file of documents"),
        (lambda lines: [lines[0].replace('version": 1', 'version": 9')], "has schema version 9"),
        (lambda lines: [], "is no file of documents"),
        (lambda lines: [*lines[:-1], '{"key": 1}'], "line 4"),
        (lambda lines: [*lines[:-1], lines[-1].replace("[[0, ", "[[7000, ")], "line 4"),
    ],
)
def test_a_damaged_file_is_not_read_in_part(tmp_path, pages, change, said):
    path = pages.save(tmp_path / "pages.jsonl")
    path.write_text("\n".join(change(path.read_text().splitlines())))
    with pytest.raises(rl.InputError, match=said):
        Documents.load(path)
    with pytest.raises(rl.InputError, match="cannot be read"):
        Documents.load(tmp_path / "nonesuch.jsonl")


# -- the tool --------------------------------------------------------------------------------


def test_a_robot_searches_documents_and_reads_passages_with_their_sources(pages):
    steps = [
        ScriptedModel.tool_call("search_documents", {"query": "refund", "limit": 1}),
        "Five days.",
    ]
    bot = rl.build("help", model=ScriptedModel(steps), tools=[pages.as_tool()])
    pages.store("A refund of a gift goes to a voucher, a refund of a voucher too.", key="gifts")
    call = bot.run("How long?").tool_calls[0]
    assert call.status == "completed"
    assert call.content == f"[1] gifts, from character 0\n{pages['gifts']}"


async def test_what_the_tool_gives_is_capped_filtered_and_never_empty(pages):
    pages.store("Secret refunds.", key="secret\nkey", lang="xx")
    tool = pages.as_tool(most_chars=60, where={"lang": "en"}, limit=2)
    text = await tool(query="refund")
    assert text.startswith("[1] ")
    assert text.endswith("\n[cut: there was more]")
    assert len(text) < 90
    assert "Secret" not in text
    whole = await pages.as_tool()(query="secret refunds", limit=1_000)
    assert whole.startswith("[1] secret key, from character 0\nSecret refunds.\n\n[2] ")
    assert await tool(query="zebra") == "Nothing was found. Try other words."


def test_the_tool_says_what_its_owner_wants_it_to(pages):
    tool = pages.as_tool("look", description="Help pages.", labels=("private", "untrusted"))
    assert (tool.name, tool.description) == ("look", "Help pages.")
    assert tool.labels == {"private", "untrusted"}
    assert pages.as_tool(labels=()).labels == frozenset()
    for wrong in ({"limit": 0}, {"limit": 21}, {"most_chars": 0}, {"limit": True}):
        with pytest.raises(rl.ConfigurationError, match="tool 'search_documents'"):
            pages.as_tool(**wrong)
    with pytest.raises(rl.UnknownKeyword, match="Did you mean 'labels'"):
        pages.as_tool(label=())


def test_a_sync_tool_and_a_task_search_by_meaning_inside_a_run():
    documents = Documents(embedding_model=letters)
    documents.store(PAGES)
    net = rl.create_network("n")
    net.task("find", lambda message: documents.search(message, 1)[0].key)
    assert net.run("parcels").value in PAGES


# -- the machine -----------------------------------------------------------------------------


def test_threads_store_search_and_delete_at_once():
    documents = Documents()
    documents.store({f"stays{n}": f"a robot number {n}" for n in range(20)})
    failed = []

    def work(seed):
        chance = random.Random(seed)
        try:
            for _ in range(60):
                key = f"key{chance.randrange(6)}"
                if chance.random() < 0.4:
                    documents.delete(key)
                else:
                    documents.store(f"a robot {'arm ' * chance.randrange(400)}", key=key)
                found = documents.search("robots", 50)
                assert {f"stays{n}" for n in range(20)} <= {hit.key for hit in found}
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failed == []
    fresh = Documents()
    fresh.store({key: documents[key] for key in documents})
    assert sorted(documents.search("robot arm", 900)) == sorted(fresh.search("robot arm", 900))


def test_ten_thousand_passages_are_stored_and_searched_quickly():
    chance = random.Random(1)
    words = [
        "".join(chance.choices("abcdefghijklmnop", k=chance.randint(3, 9))) for _ in range(9000)
    ]
    weights = [1 / (n + 1) for n in range(9000)]
    texts = {str(n): " ".join(chance.choices(words, weights, k=60)) for n in range(10_000)}
    documents = Documents()
    documents.store("warm up", key="0")
    began = time.process_time()
    documents.store(texts)
    stored = time.process_time() - began
    took = []
    for text in list(texts.values())[:20]:
        began = time.process_time()
        assert documents.search(text, 1)[0].score == 1.0
        documents.store(f"{text} changed", key="changed")
        took.append(time.process_time() - began)
    # CPU, with room for a slow machine.
    assert stored < 6
    assert sorted(took)[10] < 0.1


def test_hits_make_a_table(pages):
    table = pd.DataFrame(pages.search("refund"))
    assert list(table.columns) == list(DocumentHit._fields)


def test_sizes_and_keywords_are_checked():
    with pytest.raises(rl.ConfigurationError, match="more than a third"):
        Documents(chunk_chars=100, overlap_chars=50)
    with pytest.raises(rl.UnknownKeyword, match="Did you mean 'chunk_chars'"):
        Documents(chunk_char=100)


def test_the_loop_stays_free_while_many_texts_are_stored():
    async def main():
        documents, beats = Documents(), 0
        storing = asyncio.ensure_future(
            documents.astore({str(n): PAGES["refunds"] for n in range(3_000)})
        )
        while not storing.done():
            beats += 1
            await asyncio.sleep(0.005)
        return beats

    assert asyncio.run(main()) > 3
