"""Pictures of engine objects: as HTML, as text, as Markdown. The way into this room.

Which drawer an object has is decided by the names of its classes, so that no engine room is
imported here. A picture never raises: what cannot be drawn degrades to text, and what cannot
be described is named by its type.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import as_html, as_markdown, as_text
from .columns import COLUMNS, wrap
from .escape import clip, esc, plain
from .parts import Para, Picture
from .style import STYLE

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["html", "markdown", "picture", "text"]

#: class name -> module of this room, function
_DRAWERS: dict[str, tuple[str, str]] = {
    "Robot": ("robot_card", "robot"),
    "Tool": ("tool_card", "tool"),
    "ToolManifest": ("tool_card", "tools"),
    "Message": ("transcript", "message"),
    "MediaPart": ("attachment", "media"),
    "Template": ("template_card", "template"),
    "AgentSkill": ("skill_card", "skill"),
    "Catalog": ("skill_card", "catalog"),
    "RunConfig": ("settings_card", "config"),
    "Effective": ("settings_card", "effective"),
    "Options": ("settings_card", "options"),
    "Budget": ("budget_card", "budget"),
    "Hooks": ("hooks_card", "hooks"),
    "Registration": ("hooks_card", "handler"),
    "Hits": ("hits_card", "hits"),
    "Question": ("question_card", "question"),
    "Asked": ("question_card", "question"),
    "RobotResult": ("result_card", "result"),
    "Chat": ("chat_card", "chat"),
    "Replay": ("replay_card", "replay"),
    "Exchange": ("exchange_card", "exchange"),
    "Run": ("network_card", "run"),
    "Network": ("network_card", "network"),
    "NetworkResult": ("network_card", "result"),
    "Human": ("shared_cards", "human"),
    "FlowResult": ("flow_card", "flow"),
    "MapResult": ("flow_card", "mapped"),
    "LoopResult": ("flow_card", "looped"),
    "Memory": ("shared_cards", "memory"),
    "Documents": ("shared_cards", "documents"),
    "Bus": ("bus_card", "bus"),
    "DelegationFuture": ("state_card", "delegated"),
    "Diff": ("diff_card", "differences"),
    "Tape": ("tape_card", "tape"),
    "Task": ("task_card", "task"),
    "TaskResult": ("task_card", "result"),
    "Check": ("check_card", "check"),
    "CheckUp": ("doctor_card", "check_up"),
    "DryRun": ("magic_cards", "dry"),
    "Help": ("magic_cards", "help_of"),
    "RobotList": ("magic_cards", "robots"),
    "RobotLabError": ("error_card", "error"),
    "RunState": ("state_card", "state"),
    "Browser": ("browser_card", "browser"),
    "Log": ("log_card", "log"),
    "Selection": ("log_card", "selection"),
    "LoggedRun": ("log_card", "logged_run"),
    "LogFrames": ("log_card", "frames"),
    "Plot": ("log_card", "plot"),
    "Experiment": ("experiment_card", "experiment"),
    "Cell": ("cell_card", "cell"),
    "Estimate": ("estimate_card", "estimate"),
    "Score": ("score_card", "score"),
    "Evaluator": ("score_card", "evaluator"),
    "Judge": ("score_card", "judge"),
    "Difference": ("score_card", "difference"),
    "RunsPage": ("runs_page", "page"),
    "KeptConversation": ("conversation_card", "conversation"),
    "Frames": ("frames_card", "frames"),
    "ToolCall": ("call_card", "tool_call"),
    "ModelCall": ("call_card", "model_call"),
    "Usage": ("record_card", "usage"),
    "Event": ("record_card", "event"),
    "MemoryChange": ("record_card", "change"),
    "UserMessage": ("record_card", "record"),
    "Record": ("record_card", "record"),
    "View": ("transcript", "view"),
    "RobotMessage": ("mail_card", "message"),
    "DeadLetter": ("mail_card", "dead_letter"),
    "Receipt": ("mail_card", "receipt"),
    "Delivery": ("mail_card", "delivery"),
    "OutboxEntry": ("mail_card", "entry"),
    "Outbox": ("mail_card", "outbox"),
    "Channel": ("mail_card", "channel"),
    "Server": ("server_card", "server"),
    "KnownServer": ("trust_card", "known_server"),
    "Session": ("server_card", "session"),
    "Client": ("server_card", "client"),
    "RemoteTool": ("remote_card", "tool"),
    "RemoteResource": ("remote_card", "resource"),
    "RemotePrompt": ("remote_card", "prompt"),
    "RemoteResult": ("remote_card", "result"),
    "Subscription": ("mail_card", "subscription"),
    "Serving": ("serving_card", "serving"),
}
#: what lists are of -> module of this room, function
_LISTS: dict[str, tuple[str, str]] = {
    "Message": ("transcript", "messages"),
    "ToolCall": ("call_card", "tool_calls"),
    "Run": ("call_card", "runs"),
    "LoggedRun": ("log_card", "logged_runs"),
    "Cell": ("cell_card", "cells"),
    "Experiment": ("estimate_card", "experiments"),
    "Score": ("score_card", "scores"),
    "KeptConversation": ("conversation_card", "conversations"),
    "Event": ("record_card", "events"),
    "DeadLetter": ("mail_card", "dead_letters"),
    "DocumentHit": ("hits_card", "passages"),
    "Asked": ("call_card", "questions"),
    "Serving": ("serving_card", "servings"),
    "ServedCall": ("serving_card", "calls"),
    "Server": ("server_card", "servers"),
    "KnownServer": ("trust_card", "known_servers"),
    "Session": ("server_card", "sessions"),
    "RemoteTool": ("remote_card", "tools"),
    "RemoteResource": ("remote_card", "resources"),
    "RemotePrompt": ("remote_card", "prompts"),
}
_MOST_BYTES = 2_000_000
_PACKAGE = __name__.partition(".")[0]


def html(thing: Any) -> str:
    """An object as HTML that stands on its own: the stylesheet, then the picture.

    Parameters
    ----------
    thing : object
        A robot, tool, message, list of messages, result, run or error; others get their repr.

    Returns
    -------
    str
        At most 2 MB, the same for the same data.

    Examples
    --------
    >>> from robotlab_nb.core.messages import Message
    >>> "Hello &lt;b&gt;" in html(Message("user", "Hello <b>"))
    True
    """
    try:
        body = as_html.write(picture(thing))
        if len(body.encode("utf-8", "replace")) + len(STYLE) <= _MOST_BYTES:
            return STYLE + body
    except Exception:
        pass
    return f'{STYLE}<div class="rlnb-c"><pre>{esc(text(thing))}</pre></div>'


def text(thing: Any) -> str:
    """An object as text of at most 40 lines and 96 columns, which says the same as the HTML.

    Parameters
    ----------
    thing : object

    Examples
    --------
    >>> from robotlab_nb.core.messages import Message
    >>> print(text(Message("user", "Hello")))
    you
      Hello
    """
    try:
        return as_text.write(picture(thing))
    except Exception:
        return "\n".join(wrap(_named(thing), COLUMNS, as_text.LINES)[0])


def markdown(thing: Any) -> str:
    r"""An object as Markdown in which untrusted text is inert, for export and for terminals.

    Parameters
    ----------
    thing : object

    Examples
    --------
    >>> from robotlab_nb.core.messages import Message
    >>> print(markdown(Message("user", "2 * 3 <b>")))
    > **you**
    >
    > 2 \* 3 \<b\>
    """
    try:
        return as_markdown.write(picture(thing))
    except Exception:
        return as_markdown.write(Picture((Para((_named(thing),)),)))


def picture(thing: Any) -> Picture:
    """The parts that an object's picture is made of; one that cannot be drawn is named.

    Parameters
    ----------
    thing : object
    """
    try:
        drawer = _drawer(thing)
        if drawer is not None:
            return drawer(thing)
    except Exception:
        pass
    return Picture((Para((_named(thing),)),))


def _drawer(thing: Any) -> Callable[[Any], Picture] | None:
    found = _known(type(thing), _DRAWERS)
    if found is None and isinstance(thing, (list, tuple)) and thing:
        kinds = {type(each) for each in thing}
        found = _known(kinds.pop(), _LISTS) if len(kinds) == 1 else None
    return None if found is None else _function(*found)


def _known(kind: type, drawers: dict[str, tuple[str, str]]) -> tuple[str, str] | None:
    for cls in kind.__mro__:
        if cls.__name__ in drawers and cls.__module__.partition(".")[0] == _PACKAGE:
            return drawers[cls.__name__]
    return None


def _function(module: str, name: str) -> Callable[[Any], Picture]:
    found: Callable[[Any], Picture] = getattr(import_module(f".{module}", __package__), name)
    return found


def _named(thing: Any) -> str:
    """An object's repr without addresses; its type's name where its repr would lead back here."""
    name = f"<{plain(type(thing).__name__)}>"
    drawn = any(
        cls.__module__.partition(".")[0] == _PACKAGE and "__repr__" in vars(cls)
        for cls in type(thing).__mro__
    )
    if drawn:
        return name
    try:
        return clip(re.sub(r" at 0x[0-9a-fA-F]+", "", repr(thing)), 2000)
    except Exception:
        return name
