"""Words for the simulated model's rules: what a text is about, labels to choose from, replies.

Pure functions of text. Knows no tools, no schemas and no requests.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

__all__ = [
    "ORDERS",
    "STOP_WORDS",
    "Labels",
    "content_stems",
    "in_words",
    "labels_in",
    "pick_label",
    "reply",
    "stem",
    "stems",
]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
#: words that say nothing about the matter, those of tool descriptions among them
STOP_WORDS = frozenset(
    _WORD.findall(
        """a an the of in on at to for from by with and or not no is are was were be been am do does
    did
    done can could will would shall should may might must i i'm me my mine you your yours he she it
    its it's we our they them their this that these those there here what what's which who whom
    whose when where why how please tell show give let get gets set put use uses using used make
    makes need want like know say said go going have has had if then else so too very just also
    about into over under up down out off than as but any all some each every more most other
    another same own current currently now return returns tool function call value values name text
    string input query result results given based thing information data user example answer
    question help find finds check fetch fetches look take one two hello hi hey thanks
        thank"""
    )
)
#: words that open an order and are no names
ORDERS = frozenset(
    _WORD.findall(
        """write draft compose create describe explain list summarise summarize translate review
        check classify categorise categorize rewrite improve answer reply tell give show make plan
        please find suggest name say add book buy call cancel compare compute convert calculate
        delete include multiply divide subtract open order play read remind run schedule search
        send set sort start stop turn"""
    )
)


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Cut the commonest English endings off a lower-case word.

    Examples
    --------
    >>> stem("cities") == stem("city"), stem("calculator") == stem("calculating")
    (True, True)
    """
    word = word.removesuffix("'s").removesuffix("’s")
    if len(word) > 3 and word[-1] == "s" and word[-2] != "s":
        word = word[:-1]
    if len(word) > 4:
        for ending in ("ing", "ied", "ie", "ed", "ly", "er", "or", "e"):
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                word = word[: -len(ending)] + ("i" if ending in ("ied", "ie") else "")
                break
    if len(word) > 3 and word[-1] == "y":
        word = word[:-1] + "i"
    if len(word) > 2 and word[-1] == word[-2]:
        word = word[:-1]
    return word


@lru_cache(maxsize=256)
def stems(text: str) -> frozenset[str]:
    """The stems of all words of a text."""
    return frozenset(map(stem, _WORD.findall(text.lower())))


@lru_cache(maxsize=256)
def content_stems(text: str) -> frozenset[str]:
    """The stems of the words that say what a text is about."""
    words = _WORD.findall(text.lower())
    return frozenset(
        stem(w) for w in words if len(w) > 1 and w not in STOP_WORDS and not w.isdigit()
    )


@lru_cache(maxsize=1024)
def in_words(name: str) -> str:
    """A name in ``snake_case`` or ``camelCase`` as separate words.

    Examples
    --------
    >>> in_words("get_weather"), in_words("cityName")
    ('get weather', 'city Name')
    """
    return _HUMP.sub(" ", name).replace("_", " ")


# -- labels --------------------------------------------------------------------------------

_ITEMS = r"(?P<items>(?:[ \t]*\n[ \t]*(?:[-*•]|\d+[.)])[^\n]+)+|[^.:\n!?]{3,300})"
_LISTS = tuple(
    re.compile(pattern + _ITEMS, re.IGNORECASE)
    for pattern in (
        r"\b(?:one|1) of(?: the following| these)?(?: (?:labels|categories|options|words|classes))?"
        r"(?: only)?[ \t]*[:\-–—]?[ \t]*",
        r"\b(?:labels?|categor(?:y|ies)|class(?:es)?|options?|choices?|departments?|intents?)\b"
        r"[^:\n.]{0,40}:[ \t]*",
        r"\b(?:classify|categori[sz]e|label|sort|triage)\b[^.\n]{0,80}?"
        r"\b(?:as|into|between)\b(?: either)?[ \t]*:?[ \t]*",
        r"\b(?:answer|reply|respond|return|output|say)\b[^.\n:]{0,30}"
        r"\b(?:word|label|category|only|exactly)[ \t]*:[ \t]*",
        r"\b(?:answer|reply|respond|say)\b(?: only| with| just)*[ \t]+(?=[\"'`]?yes\b)",
    )
)
_BULLET = re.compile(r"[ \t]*(?:[-*•]|\d+[.)])[ \t]*")
_BETWEEN = re.compile(r"\s*(?:,|;|\||/|\bor\b)(?:\s*\b(?:or|and)\b)?\s*", re.IGNORECASE)
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_AFTER_LIST = re.compile(
    r"\s+(?:with|only|based|depending|without|nothing|for|and (?:nothing|no|do|then))\b.*",
    re.IGNORECASE | re.DOTALL,
)
#: word in a label -> words that speak for it
_SPEAKS_FOR = {
    stem(label): frozenset(map(stem, words.split()))
    for labels, words in (
        (
            "billing payment finance invoice account",
            "charge invoice refund pay paid payment price money card subscription bill cost credit",
        ),
        (
            "technical tech bug support",
            "error crash bug broken login password install slow fail server app update code",
        ),
        (
            "shipping delivery logistics",
            "order package parcel arrive track ship deliver late courier",
        ),
        ("sales", "buy quote pricing plan upgrade demo offer discount"),
        (
            "positive happy praise",
            "good great love excellent happy thank best wonderful amazing nice perfect",
        ),
        (
            "negative angry complaint unhappy",
            "bad terrible hate awful poor worst sad angry disappoint broken problem slow never",
        ),
        ("urgent high critical", "now immediately asap emergency down critical urgent outage"),
        ("spam", "winner prize click lottery free"),
    )
    for label in labels.split()
}


class Labels(NamedTuple):
    """Labels that a prompt lists, what it says of each, and where in the prompt it does."""

    names: tuple[str, ...]
    notes: tuple[str, ...]
    start: int
    end: int


@lru_cache(maxsize=256)
def labels_in(prompt: str) -> Labels | None:
    """Find the labels of which a prompt asks for one.

    Examples
    --------
    >>> labels_in("Answer with one of: billing, technical or general.").names
    ('billing', 'technical', 'general')
    >>> labels_in("Be brief.") is None
    True
    """
    for pattern in _LISTS:
        match = pattern.search(prompt)
        if match is None:
            continue
        names, notes = _items(match["items"])
        if 2 <= len(names) <= 20 and all(name and len(name.split()) <= 3 for name in names):
            return Labels(names, notes, match.start(), match.end())
    return None


def _items(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and notes of a written list, in bullets or in a row."""
    if text.lstrip(" \t").startswith("\n"):
        lines = [_BULLET.sub("", line, count=1) for line in text.split("\n") if line.strip()]
        pairs = [re.split(r"\s*(?::|\s[-–—]\s)\s*", line, maxsplit=1) for line in lines]
    else:
        text = _AFTER_LIST.sub("", text)
        parts = _BETWEEN.split(text)
        if len(parts) == 1 or not re.search(r"\bor\b|[|/]", text, re.IGNORECASE):
            parts = [piece for part in parts for piece in _AND.split(part)]
        pairs = [re.split(r"\s*(?=\()", part, maxsplit=1) for part in parts]
    names = tuple(pair[0].strip(" \t\"'`*“”‘’[](){}<>.") for pair in pairs)
    return names, tuple(pair[1] if len(pair) > 1 else "" for pair in pairs)


def pick_label(labels: Labels, text: str, *, asked_in_text: bool = False) -> str:
    """Choose the label whose words occur in a text, else the last one.

    Parameters
    ----------
    labels : Labels
    text : str
    asked_in_text : bool, optional
        Whether the labels were listed in this very text; the list itself then says nothing.

    Examples
    --------
    >>> labels = labels_in("one of: billing, technical, general")
    >>> pick_label(labels, "My bill is wrong"), pick_label(labels, "Good morning")
    ('billing', 'general')
    """
    if asked_in_text:
        text = text[: labels.start] + " " + text[labels.end :]
    said = stems(text)
    best, chosen = 0, labels.names[-1]
    for name, note in zip(labels.names, labels.notes, strict=True):
        own = stems(in_words(name))
        score = 3 * len(said & own) + 2 * len(said & content_stems(note))
        for word in own:
            score += len(said & _SPEAKS_FOR.get(word, frozenset()))
        if score > best:
            best, chosen = score, name
    return chosen


# -- replies -------------------------------------------------------------------------------

_GREETING = re.compile(
    r"\s*(?:hello|hi|hey|good (?:morning|afternoon|evening)|hallo)\b[\w ,]{0,20}[.!]*\s*", re.I
)
_QUESTION = re.compile(
    r"\s*(?:what|who|whom|whose|where|when|why|how|which|is|are|was|were|do|does|did|can|could|"
    r"will|would|should)\b(?:['’]s)?(?:\s+(?:is|are|was|were|do|does|did|can|could|would|should|"
    r"to|i|you|we|much|many))*\s+",
    re.I,
)
_ABOUT = re.compile(r"\b(?:about|on|regarding)\s+([^.,;:!?\n]{2,80})", re.I)
_TO_ME = frozenset(("me", "us", "the", "a", "an", "this", "text"))
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_PERSONA = re.compile(r"\byou are (an? [^.,;:\n]{3,60}?)(?= who | that | which |[.,;:\n]|$)", re.I)
_BRIEF = re.compile(r"\b(?:brief|short|concise|terse|one (?:short )?sentence)\b", re.I)
_KINDS = (
    (
        re.compile(r"\b(?:summar\w+|shorten|tl;?dr)\b", re.I),
        "In short: {first}",
    ),
    (
        re.compile(r"\b(?:review|critique|proofread|edit|feedback|improve)\b", re.I),
        "The text about {topic} is clear. It could open with its main point. I would change "
        "nothing else.",
    ),
    (
        re.compile(r"\b(?:list|steps?|plan|ideas?|outline|checklist)\b", re.I),
        "1. Start with {topic}.\n2. Look at one example.\n3. Decide on the next step.",
    ),
    (
        re.compile(r"\b(?:write|draft|compose|story|poem|email|letter|article|post)\b", re.I),
        "Here is a short draft about {topic}. It says what matters first. It gives one example "
        "and ends with a next step.",
    ),
)
_ASKED = (
    "You asked about {topic}. This is a simulated answer: it shows where the real one would stand."
)
_TOLD = "I have read what you say about {topic}. This is a simulated reply, without any facts."
_QUOTED = "I have read your message “{quote}”. This is a simulated reply, without any facts."
_NOTHING = "This is a simulated reply. Ask a question, or offer a tool that fits it."
_HELLO = "Hello! I am a simulated model. Ask me something that one of your tools can answer."


def reply(system: str, text: str) -> str:
    """Write a short reply that takes up what the prompt and the message say.

    Parameters
    ----------
    system : str
        The system prompt, "" for none.
    text : str
        The user's message.

    Examples
    --------
    >>> reply("You are a travel guide. Be brief.", "What is the capital of France?")
    'As a travel guide: You asked about the capital of France.'
    """
    if not text.strip():
        return _NOTHING
    if _GREETING.fullmatch(text):
        return _HELLO
    persona, brief = _manner(system)
    topic = _topic(text)
    form = _QUOTED
    if topic:
        form = _ASKED if "?" in text or _QUESTION.match(text) else _TOLD
    for pattern, kind in _KINDS:
        if pattern.search(text[:200]):
            form = kind
            break
    if brief and "\n" not in form:
        form = form.split(". ")[0].removesuffix(".") + "."
    first = _first(text)
    written = form.format(topic=topic or "it", first=first, quote=first.rstrip(". "))
    return f"As {persona}: {written}" if persona else written


@lru_cache(maxsize=256)
def _manner(system: str) -> tuple[str, bool]:
    """Who a system prompt says the model is, and whether it asks to be brief."""
    found = _PERSONA.search(system)
    persona = found[1].strip() if found else ""
    if "assistant" in persona.lower().split()[-1:]:
        persona = ""
    return persona, bool(_BRIEF.search(system))


def _topic(text: str) -> str:
    """What a question or an order is about, in its own words, at most eight; else ""."""
    first = text.strip().partition("\n")[0]
    about = _ABOUT.search(first)
    question = _QUESTION.match(first)
    sentence = _SENTENCE.search(first)
    phrase = about[1] if about else sentence[0] if sentence else ""
    words = phrase.split()
    if question and not about:
        words = phrase[question.end() :].split()
    elif not about:
        if not words or words[0].lower().strip(",:") not in ORDERS:
            return ""
        while words and words[0].lower().strip(",:") in ORDERS | _TO_ME:
            del words[0]
        if words and words[0].lower() in ("to", "with", "on", "at", "for"):
            del words[0]  # "reply to …" is about what follows
    return " ".join(words[:8]).strip(" .,;:!?\"'“”")[:80]


def _first(text: str) -> str:
    """The first sentence of what a message wants summarised."""
    body = text.partition(":")[2] or text
    found = _SENTENCE.search(body.strip())
    sentence = found[0].strip() if found else body.strip()
    return sentence if len(sentence) <= 160 else sentence[:159].rstrip() + "…"
