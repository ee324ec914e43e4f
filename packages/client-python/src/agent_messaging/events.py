"""Events by long poll, with a position that is stored after each event is handled."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator
from typing import Any

from ._calls import Caller, backoff, is_transient
from ._operations import Event, EventsOperations
from .cursors import CursorStore, MemoryCursor
from .errors import AgentMessagingError, GapError

OnGap = Callable[[], None]
OnError = Callable[[AgentMessagingError, float], None]


class EventStream(Iterator[Event]):
    """The events of the agent in order, without end. Use it from one thread.

    The position is stored when the loop asks for the next event: after the loop body has finished. An event whose body
    raises comes again at the next start. After a `break`, call `done()` if the last event was handled.
    """

    def __init__(
        self,
        caller: Caller,
        store: CursorStore,
        *,
        start: str | None,
        types: Collection[str] | None,
        wait: int,
        on_gap: OnGap | None,
        on_error: OnError | None,
    ) -> None:
        self._caller = caller
        self._store = store
        self._types = types
        self._wait = wait
        self._on_gap = on_gap
        self._on_error = on_error
        self._stored = store.load()
        self._position = self._stored or start
        self._is_pinned = self._stored is not None
        self._events: deque[Event] = deque()
        self._handed_out: str | None = None
        self._closed = threading.Event()

    def __next__(self) -> Event:
        self.done()
        while not self._closed.is_set():
            if self._events:
                event = self._events.popleft()
                self._handed_out = event["cursor"]
                return event
            self._read_page()
        raise StopIteration

    def done(self) -> None:
        """Stores that the last event was handled."""
        if self._handed_out is not None:
            self._save(self._handed_out)
            self._handed_out = None

    def close(self) -> None:
        """Ends the loop before its next event. Can be called from another thread or from a signal handler."""
        self._closed.set()

    def _save(self, cursor: str) -> None:
        if cursor != self._stored:
            self._store.save(cursor)
            self._stored = cursor

    def _read_page(self) -> None:
        # The first request does not wait: its cursor is the place to continue from if the connection is lost during a wait.
        page = self._poll(self._wait if self._is_pinned else 0)
        if page is None:
            return
        self._is_pinned = True
        self._position = page["cursor"]
        events = page["events"]
        self._events.extend(event for event in events if self._types is None or event["type"] in self._types)
        if page.get("gap"):
            if self._on_gap is None:
                raise GapError
            self._on_gap()
        if not self._events:
            self._save(page["cursor"])

    def _poll(self, wait: int) -> dict[str, Any] | None:
        """The next page; None if the stream was closed."""
        attempt = 0
        while not self._closed.is_set():
            try:
                query = {"cursor": self._position, "limit": 100, "wait": wait}
                page: dict[str, Any] = self._caller.call("list_events", query, timeout=wait + 15, max_retries=0)
                return page
            except AgentMessagingError as error:
                if not is_transient(error):
                    raise
                seconds = backoff(min(attempt, 10), error.retry_after)
                if self._on_error is not None:
                    self._on_error(error, seconds)
                self._closed.wait(seconds)
                attempt += 1
        return None


class EventSource(EventsOperations):
    """The feed of the agent. Call it for a stream: `for event in client.events(cursor=FileCursor("cursor")): ...`"""

    def __call__(
        self,
        cursor: CursorStore | None = None,
        *,
        start: str | None = None,
        types: Collection[str] | None = None,
        wait: int = 25,
        on_gap: OnGap | None = None,
        on_error: OnError | None = None,
    ) -> EventStream:
        """The events after the stored position.

        Without a stored position, the stream starts after the position that the agent acknowledged, or else at the
        oldest event that is kept.

        :param cursor: where the position is stored: `FileCursor`, `MemoryCursor` (the default), or your own.
        :param start: the position without a stored one: a cursor, `earliest` or `latest`.
        :param types: only events of these types.
        :param wait: seconds that a request waits for an event, 0–30.
        :param on_gap: called when events after the position are no longer kept. Read your state in it. Without it,
            the stream raises `GapError`.
        :param on_error: called with each transient error and the seconds until the next attempt.
        """
        return EventStream(
            self._caller,
            cursor or MemoryCursor(),
            start=start,
            types=types,
            wait=wait,
            on_gap=on_gap,
            on_error=on_error,
        )
