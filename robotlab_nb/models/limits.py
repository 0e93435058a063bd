"""Rate limits: so many requests and tokens a minute, for all that ask one provider with one key.

A request holds its slot from its start until a minute after its end. It arrives at the server
somewhere in between, so that no minute of the server's can hold more than the limit, however
unsteady the way there is. Who waits is served first come, first served, whichever thread or
event loop it is on. It knows neither runs nor money.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from ..runtime.bells import Bell

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LONGEST_PAUSE_S", "WINDOW_S", "Limiter", "Slot", "TooLate", "Wish"]

#: seconds in which a limit counts
WINDOW_S = 60.0
#: the longest that a provider's word stops everybody: after it, one more request may ask again
LONGEST_PAUSE_S = 3600.0
_INFINITE = float("inf")


class Wish(NamedTuple):
    """What a request needs, and the limits that its settings give.

    Parameters
    ----------
    requests, tokens : float or None
        Limits a minute; below one request a minute counts as one.
    needed : int
        Tokens that it will read and write, rather too many than too few.
    """

    requests: float | None = None
    tokens: float | None = None
    needed: int = 0


class TooLate(Exception):
    """A turn that would come after the deadline. ``limit`` stands in the way for ``wait_s``."""

    def __init__(self, limit: str, wait_s: float) -> None:
        super().__init__(limit, wait_s)
        self.limit = limit
        self.wait_s = wait_s


class Slot:
    """A request's place in the window, from its start until a window after its end."""

    __slots__ = ("_limiter", "ends", "needed", "wish")

    def __init__(self, limiter: Limiter, wish: Wish) -> None:
        self._limiter = limiter
        self.wish = wish
        self.needed = wish.needed
        #: when it no longer counts; None while the request is under way
        self.ends: float | None = None

    def leave(self, tokens: int | None = None) -> None:
        """Say that the request has ended.

        Parameters
        ----------
        tokens : int, optional
            What it really took; what was expected when left out.
        """
        self._limiter._leave(self, tokens)

    def give_back(self) -> None:
        """Say that no request was made."""
        self._limiter._give_back(self)


class _Place:
    """Somebody in the line."""

    __slots__ = ("bell", "slot", "wish")

    def __init__(self, wish: Wish) -> None:
        self.wish = wish
        self.bell = Bell()
        self.slot: Slot | None = None


class Limiter:
    """One account's window, and the line before it.

    The smallest limits count that anybody has who waits or is in the window. A request that needs
    more tokens than the limit allows is made when the window holds none.

    Parameters
    ----------
    window : float, optional
        Seconds; a minute.
    clock : callable, optional
        Gives seconds; never goes back.

    Examples
    --------
    >>> import asyncio
    >>> async def visit(limiter):
    ...     first = await limiter.enter(Wish(requests=1))
    ...     first.leave()
    ...     await limiter.enter(Wish(requests=1), until=monotonic() + 1)
    >>> asyncio.run(visit(Limiter(window=60)))
    Traceback (most recent call last):
    ...
    robotlab_nb.models.limits.TooLate: ('requests_per_minute', ...)
    """

    def __init__(self, window: float | None = None, clock: Callable[[], float] = monotonic) -> None:
        self.window = WINDOW_S if window is None else window
        self._clock = clock
        self._lock = threading.Lock()
        self._under_way: set[Slot] = set()
        #: slots of ended requests, in the order in which they cease to count
        self._ended: deque[Slot] = deque()
        #: tokens of all slots, and of the ended ones
        self._tokens = self._tokens_ended = 0
        self._line: deque[_Place] = deque()
        #: whoever was told last to be the first in the line
        self._first: _Place | None = None
        #: the limits of all in the line and in the window, and how many have each
        self._requests_limits: Counter[float] = Counter()
        self._tokens_limits: Counter[float] = Counter()
        self._paused_until = -_INFINITE

    async def enter(
        self,
        wish: Wish,
        *,
        until: float | None = None,
        waits: Callable[[str, float], object] | None = None,
    ) -> Slot:
        """Wait for one's turn.

        Parameters
        ----------
        wish : Wish
        until : float, optional
            Instant of the clock after which it waits no longer.
        waits : callable, optional
            Called once when it has to wait, with the limit's name and the seconds to expect.

        Returns
        -------
        Slot
            To be left when the request has ended, however it did.

        Raises
        ------
        TooLate
            When its turn cannot come in time; at once when that can be told.
        """
        with self._lock:
            now = self._clock()
            self._count(wish, 1)
            self._advance(now)
            if not self._line and self._fits(wish, now):
                return self._start(wish)
            place = _Place(wish)
            self._line.append(place)
            limit, ready = self._expected(place, now)
        try:
            if until is not None and ready > until:
                raise TooLate(limit, ready - now)
            if waits is not None:
                waits(limit, max(0.0, ready - now))
            while place.slot is None:
                await self._wait(place, until)
        except BaseException:
            self._withdraw(place)
            raise
        return place.slot

    def pause(self, seconds: float) -> None:
        """Let nobody start for a while: the provider said so."""
        with self._lock:
            until = self._clock() + min(seconds, LONGEST_PAUSE_S)
            self._paused_until = max(self._paused_until, until)

    @property
    def idle(self) -> bool:
        """Whether it holds nothing that counts."""
        with self._lock:
            now = self._clock()
            self._advance(now)
            return not (self._under_way or self._ended or self._line or self._paused_until > now)

    # -- waiting ---------------------------------------------------------------------------

    async def _wait(self, place: _Place, until: float | None) -> None:
        """Wait until something may have changed for a place in the line."""
        with self._lock:
            now = self._clock()
            self._advance(now)
            if place.slot is not None:
                return
            limit, ready = self._expected(place, now)
            # The first one looks after the line. Its loop may hang: others look too, later.
            position = self._line.index(place)
            wake = self._next_change(now)
            if position:
                wake = max(ready, min(wake, now + self.window)) + 1.0 + 0.01 * position
        if until is not None:
            if now >= until:
                raise TooLate(limit, max(0.0, ready - now))
            wake = min(wake, until)
        await place.bell.wait(None if wake == _INFINITE else wake - now)

    def _withdraw(self, place: _Place) -> None:
        """Take somebody out who no longer waits."""
        with self._lock:
            if place.slot is not None:  # its turn came at the last moment
                self._drop(place.slot)
            else:
                self._line.remove(place)
                self._count(place.wish, -1)
            self._advance(self._clock())

    # -- the window; the lock is held --------------------------------------------------------

    def _leave(self, slot: Slot, tokens: int | None) -> None:
        with self._lock:
            if slot not in self._under_way:
                return
            now = self._clock()
            self._under_way.remove(slot)
            if tokens is not None:
                self._tokens += tokens - slot.needed
                slot.needed = tokens
            slot.ends = now + self.window
            self._ended.append(slot)
            self._tokens_ended += slot.needed
            self._advance(now)
            if self._line:
                self._line[0].bell.ring()  # there is a new end to wait for

    def _give_back(self, slot: Slot) -> None:
        with self._lock:
            if slot in self._under_way:
                self._drop(slot)
                self._advance(self._clock())

    def _drop(self, slot: Slot) -> None:
        self._under_way.discard(slot)
        self._tokens -= slot.needed
        self._count(slot.wish, -1)

    def _start(self, wish: Wish) -> Slot:
        slot = Slot(self, wish)
        self._under_way.add(slot)
        self._tokens += slot.needed
        return slot

    def _count(self, wish: Wish, number: int) -> None:
        """Note limits that count from now on, or no longer."""
        for limit, limits in (
            (wish.requests, self._requests_limits),
            (wish.tokens, self._tokens_limits),
        ):
            if limit is not None:
                limits[limit] += number
                if not limits[limit]:
                    del limits[limit]

    def _limits(self) -> tuple[float, float]:
        """Requests and tokens that the window may hold."""
        requests = min(self._requests_limits, default=_INFINITE)
        if requests != _INFINITE:
            requests = max(1, int(requests))
        return requests, min(self._tokens_limits, default=_INFINITE)

    def _fits(self, wish: Wish, now: float) -> bool:
        if now < self._paused_until:
            return False
        held = len(self._under_way) + len(self._ended)
        requests, tokens = self._limits()
        if held >= requests:
            return False
        return not self._tokens or self._tokens + wish.needed <= tokens

    def _advance(self, now: float) -> None:
        """Forget what no longer counts, and let in whoever's turn it is."""
        ended = self._ended
        while ended and ended[0].ends <= now:  # type: ignore[operator]
            slot = ended.popleft()
            self._tokens_ended -= slot.needed
            self._drop(slot)
        line = self._line
        while line and self._fits(line[0].wish, now):
            place = line.popleft()
            place.slot = self._start(place.wish)
            if not place.bell.ring():  # its loop is closed
                self._drop(place.slot)
        if line and line[0] is not self._first:
            self._first = line[0]
            self._first.bell.ring()  # it has to look at the clock itself now

    # -- looking ahead; the lock is held -----------------------------------------------------

    def _next_change(self, now: float) -> float:
        """When the clock alone changes something next."""
        next_end = self._ended[0].ends if self._ended else None
        changes = [] if next_end is None else [next_end]
        if self._paused_until > now:
            changes.append(self._paused_until)
        return min(changes, default=_INFINITE)

    def _expected(self, place: _Place, now: float) -> tuple[str, float]:
        """What somebody in the line waits for, and the earliest instant at which it can be over,
        under the limits that count now.
        """
        requests, tokens = self._limits()
        position = self._line.index(place)
        found = [("requests_per_minute", self._requests_ready(position, requests, now))]
        found.append(("tokens_per_minute", self._tokens_ready(place.wish.needed, tokens, now)))
        if self._paused_until > now:
            found.append(("retry_after", self._paused_until))
        latest = max(found, key=lambda one: one[1])
        if latest[1] <= now and self._tokens + place.wish.needed > tokens:
            return "tokens_per_minute", latest[1]  # those under way may take less than expected
        return latest

    def _requests_ready(self, position: int, limit: float, now: float) -> float:
        """When the request at a position may start, if every request took no time."""
        if limit == _INFINITE:
            return now
        limit = int(limit)
        held = len(self._under_way) + len(self._ended)
        n = position + held - limit  # so many must cease to count before, apart from one
        if n < 0:
            return now
        # Departures: first those held, then each as many windows later as it needs.
        most = max(limit, held)
        windows = (n - most) // limit + 1 if n >= most else 0
        n -= windows * limit
        ends = self._ended[n].ends if n < len(self._ended) else now + self.window
        return (ends or now) + windows * self.window

    def _tokens_ready(self, needed: int, limit: float, now: float) -> float:
        """When there may be tokens left, if those under way take none."""
        over = self._tokens_ended + min(needed, limit) - limit
        if over <= 0:
            return now
        for slot in self._ended:
            over -= slot.needed
            if over <= 0:
                return slot.ends or now
        return now
