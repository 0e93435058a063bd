"""Slots for robots that work at the same time, under caps that hold together.

A robot takes one unit of every cap that it is under, or waits for all of them: nobody holds one
while waiting for another. While a robot awaits runs inside it, or a person, its slot is free for
others; it takes one again before its model is asked next. So robots that call robots go on under
a cap of one. Knows no network and no event.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Cap", "Gate", "Seat"]

IDLE, WAITING, HELD = "idle", "waiting", "held"


class Gate:
    """Those who wait for slots in a tree of runs, and who is next.

    What was begun goes before what was not. Among equals the kinds (a kind is a set of caps) take
    turns, and within a kind whoever came first is first.
    """

    __slots__ = ("again", "fresh", "lock")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.again: dict[tuple[Cap, ...], deque[tuple[Seat, int]]] = {}
        self.fresh: dict[tuple[Cap, ...], deque[tuple[Seat, int]]] = {}

    def serve(self) -> list[Seat]:
        """Give slots to all who can have one. Under the lock; the caller then wakes them."""
        served: list[Seat] = []
        for lane in (self.again, self.fresh):
            while (seat := _next(lane)) is not None:
                served.append(seat)
        return served


def _next(lane: dict[tuple[Cap, ...], deque[tuple[Seat, int]]]) -> Seat | None:
    for key in list(lane):
        queue = lane[key]
        while queue and queue[0][0].ticket != queue[0][1]:
            queue.popleft()  # gave up
        if not queue:
            del lane[key]
        elif all(cap.used < cap.limit for cap in key):
            seat, _ = queue.popleft()
            lane[key] = lane.pop(key)  # the other kinds are next
            seat.hold(key)
            return seat
    return None


class Cap:
    """How many may work at the same time.

    Parameters
    ----------
    limit : int
    gate : Gate, optional
        That of the caps which hold together with it.

    Examples
    --------
    >>> cap = Cap(1)
    >>> first, second = Seat((cap,)), Seat((cap,))
    >>> first.ask(), second.ask()
    (True, False)
    >>> first.give()
    >>> second.held, cap.used
    (True, 1)
    """

    __slots__ = ("gate", "limit", "used")

    def __init__(self, limit: int, gate: Gate | None = None) -> None:
        self.limit = limit
        self.gate = gate or Gate()
        self.used = 0


class Seat:
    """The slot of one robot, or its wish for one. Any thread may use it.

    Parameters
    ----------
    caps : tuple of Cap
        All of one gate. Given back while it waits for others.
    base : tuple of Cap, optional
        Taken together with the others the first time, and kept to the end.
    """

    __slots__ = ("_base", "_based", "_caps", "_gate", "_inside", "_state", "_wake", "ticket")

    def __init__(self, caps: tuple[Cap, ...], base: tuple[Cap, ...] = ()) -> None:
        self._caps = caps
        self._base = base
        self._based = not base
        both = (*base, *caps)
        self._gate = both[0].gate if both else Gate()
        self._state = IDLE
        #: how many are awaited that may need slots, or a person
        self._inside = 0
        self._wake: Callable[[], object] | None = None
        #: which of its wishes stands
        self.ticket = 0

    @property
    def held(self) -> bool:
        """Whether it has its slot."""
        return self._state == HELD

    def ask(self, wake: Callable[[], object] | None = None, *, fresh: bool = False) -> bool:
        """Wish for a slot. True when it is there at once; else ``wake`` is called when it is.

        Parameters
        ----------
        wake : callable, optional
            Called from whatever thread gave a slot back.
        fresh : bool, optional
            Whether it has not begun: those that have go first.
        """
        gate = self._gate
        with gate.lock:
            if self._state == HELD:
                return True
            self._state = WAITING
            self.ticket += 1
            self._wake = None
            lane = gate.fresh if fresh else gate.again
            key = self._caps if self._based else (*self._base, *self._caps)
            lane.setdefault(key, deque()).append((self, self.ticket))
            served = gate.serve()
            there = self._state == HELD
            if not there:
                self._wake = wake
        _wake_all(served)
        return there

    def hold(self, key: tuple[Cap, ...]) -> None:
        """Take a unit of each cap. For the gate, which has looked that they are free."""
        for cap in key:
            cap.used += 1
        self._based = True
        self._state = HELD
        self.ticket += 1

    async def take(self) -> None:
        """Have a slot, or wait for one."""
        if self._state == HELD:
            return
        import asyncio

        loop = asyncio.get_running_loop()
        there = loop.create_future()

        def wake() -> None:
            loop.call_soon_threadsafe(_settle, there)

        if self.ask(wake):
            return
        try:
            await there
        except asyncio.CancelledError:
            self.give()
            raise

    def give(self) -> None:
        """Give the slot back, or the wish up."""
        with self._gate.lock:
            self._let_go()
            served = self._gate.serve()
        _wake_all(served)

    def end(self, above: Seat | None = None) -> None:
        """Give everything back; whoever awaited this goes on with the slot if it can.

        Parameters
        ----------
        above : Seat, optional
            One that had left.
        """
        with self._gate.lock:
            self._let_go()
            if above is not None:
                above._return()
            served = self._gate.serve()
        _wake_all(served)

    def close(self) -> None:
        """Give back what was kept to the end as well."""
        with self._gate.lock:
            self._let_go()
            if self._based:
                for cap in self._base:
                    cap.used -= 1
                self._base = ()
            served = self._gate.serve()
        _wake_all(served)

    def leave(self) -> None:
        """Give the slot away while something is awaited that others must do."""
        with self._gate.lock:
            self._inside += 1
            self._let_go()
            served = self._gate.serve()
        _wake_all(served)

    def back(self) -> None:
        """What was awaited is there: have the slot again if one is free."""
        with self._gate.lock:
            self._return()
            served = self._gate.serve()
        _wake_all(served)

    def settle(self) -> None:
        """The model has answered: keep the slot, unless something is awaited all the same."""
        if self._inside:
            self.give()

    def _return(self) -> None:
        self._inside -= 1
        if not self._inside and self._state == IDLE:
            caps = self._caps
            if all(cap.used < cap.limit for cap in caps):
                self.hold(caps)

    def _let_go(self) -> None:
        if self._state == HELD:
            for cap in self._caps:
                cap.used -= 1
        self._state = IDLE
        self.ticket += 1


def _wake_all(served: list[Seat]) -> None:
    for seat in served:
        wake, seat._wake = seat._wake, None
        if wake is not None:
            wake()


def _settle(future: object) -> None:
    if not future.done():  # type: ignore[attr-defined]
        future.set_result(None)  # type: ignore[attr-defined]
