"""What the tests of the bus share: a bus that is closed afterwards, and the events of messages."""

from __future__ import annotations

import pytest

import robotlab_nb as rl
from robotlab_nb.core.event_data import EVENT_TYPES
from robotlab_nb.runtime.session import session_events


@pytest.fixture
def bus():
    made = rl.Bus()
    yield made
    made.close(drain=False)


@pytest.fixture
def told():
    """``told(receipt)``: the session's events of a message, as (type, data), keys checked."""

    def events(receipt):
        found = []
        for event in session_events():
            if event.data.get("message_id") == receipt.message_id:
                assert set(event.data) <= set(EVENT_TYPES[event.type].__annotations__)
                found.append((event.type, event.data))
        return found

    return events
