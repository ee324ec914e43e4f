"""Work that several instances of one agent share: each item is leased to one of them."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from ._calls import Caller, backoff, is_transient
from ._operations import Event, InboxOperations
from .errors import AgentMessagingError, ApprovalRequiredError, LeaseLostError, NotFoundError

_log = logging.getLogger("agent_messaging")


@dataclass(frozen=True, eq=False)
class Lease:
    """One item, and the right to handle it until it is acknowledged or the lease ends."""

    id: str
    fencing_token: int
    """Grows with every lease of the agent. Another system can refuse a write with a lower one."""
    attempt: int
    """1 for the first lease of this item."""
    event: Event
    lost: threading.Event = field(default_factory=threading.Event)
    """Set when the lease has ended, also if the service cannot be reached: stop, because another instance may have the item."""


Handler = Callable[[Lease], "str | dict[str, Any] | None"]


class InboxWork(InboxOperations):
    """The inbox of the agent."""

    def work(
        self,
        handler: Handler,
        *,
        concurrency: int = 1,
        lease_seconds: int = 60,
        wait_seconds: int = 5,
        consumer: str | None = None,
        stop: threading.Event | None = None,
        on_error: Callable[[BaseException, Lease], None] | None = None,
    ) -> None:
        """Handles items until SIGTERM, SIGINT or `stop`; then finishes those that it has.

        An item is acknowledged when the handler returns. If it returns a text or the fields of a message, that is sent
        as the reply in the same transaction. If it raises, the item is given back and comes again later. A reply that a
        person reviews first ends the lease, too; if it is denied, the item comes again.

        :param concurrency: how many items are handled at the same time, each in a thread of its own.
        :param lease_seconds: how long other instances leave an item alone if this process dies.
        :param wait_seconds: how long a request waits for an item, 0–20, but at most a third of `lease_seconds`. Stopping
            takes at most this long when idle.
        :param consumer: a name for this instance; by default the host name and the process ID.
        :param on_error: called when an item was not handled. By default the error is logged.
        """
        stopping = stop or threading.Event()
        pool = _Pool(self._caller, handler, lease_seconds, on_error or _log_error)
        wait_seconds = min(wait_seconds, lease_seconds // 3)  # the wait is part of the lease
        request = {"lease_seconds": lease_seconds, "consumer": consumer or _name_instance(socket.gethostname(), os.getpid())}
        attempt = 0
        with _stopped_by_signals(stopping), pool.running(concurrency):
            while not stopping.is_set():
                free = pool.wait_for_free(concurrency)
                if stopping.is_set():
                    break
                claimed_at = time.monotonic()
                try:
                    claim = {**request, "max": min(100, free), "wait_seconds": wait_seconds}
                    answer = self._caller.call("claim_messages", claim, timeout=wait_seconds + 15)
                except AgentMessagingError as error:
                    if not is_transient(error):
                        raise
                    stopping.wait(backoff(min(attempt, 10), error.retry_after))
                    attempt += 1
                    continue
                attempt = 0
                for item in answer["leases"]:
                    lease = Lease(item["id"], item["fencing_token"], item["attempt"], item["event"])
                    pool.start(lease, claimed_at, is_late=stopping.is_set())


def _name_instance(host: str, pid: int) -> str:
    """The name of an instance in the inbox, at most 64 characters."""
    end = f"-{pid}"
    return re.sub(r"[^\w.-]", "-", host, flags=re.ASCII)[: 64 - len(end)] + end


def _log_error(error: BaseException, lease: Lease) -> None:
    _log.error("the item %s was not handled", lease.event["id"], exc_info=error)


@contextmanager
def _stopped_by_signals(stopping: threading.Event) -> Generator[None, None, None]:
    """The first signal stops the work. Python delivers signals to the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def restore() -> None:
        for number, action in previous.items():
            signal.signal(number, action)

    def stop(*_: object) -> None:
        stopping.set()
        restore()  # a second signal ends the process

    for number in previous:
        signal.signal(number, stop)
    try:
        yield
    finally:
        restore()


class _Pool:
    """Items that are being handled, each in a thread; another one renews its lease, so that no request delays other leases."""

    def __init__(
        self,
        caller: Caller,
        handler: Handler,
        lease_seconds: int,
        on_error: Callable[[BaseException, Lease], None],
    ) -> None:
        self._caller = caller
        self._handler = handler
        self._lease_seconds = lease_seconds
        self._on_error = on_error
        self._current: set[Future[None]] = set()
        self._threads: ThreadPoolExecutor

    @contextmanager
    def running(self, concurrency: int) -> Generator[None, None, None]:
        """At its end, waits for the items that are being handled."""
        with ThreadPoolExecutor(concurrency) as self._threads:
            yield

    def wait_for_free(self, concurrency: int) -> int:
        """How many more items can be handled, at least one."""
        while True:
            self._current = {future for future in self._current if not future.done()}
            if len(self._current) < concurrency:
                return concurrency - len(self._current)
            wait(self._current, return_when="FIRST_COMPLETED")

    def start(self, lease: Lease, claimed_at: float, *, is_late: bool) -> None:
        run = self._threads.submit
        self._current.add(run(self._give_back, lease) if is_late else run(self._handle, lease, claimed_at))

    def _send(self, operation: str, lease: Lease, timeout: float | None = None, **fields: Any) -> None:
        self._caller.call(operation, {"lease_id": lease.id, **fields}, timeout=timeout)

    def _handle(self, lease: Lease, claimed_at: float) -> None:
        is_done = threading.Event()
        threading.Thread(target=self._keep, args=(lease, claimed_at, is_done), daemon=True).start()
        try:
            reply = self._handler(lease)
            with suppress(ApprovalRequiredError):
                self._send("acknowledge_message", lease, reply=reply)
        except BaseException as error:
            self._give_back(lease, f"{type(error).__name__}: {error}", min(300, 2**lease.attempt))
            self._on_error(error, lease)
        finally:
            is_done.set()

    def _give_back(self, lease: Lease, reason: str = "The instance stops.", delay_seconds: int = 0) -> None:
        try:
            with suppress(LeaseLostError):
                self._send("release_message", lease, reason=reason[:500], delay_seconds=delay_seconds)
        except Exception as error:  # also an error of the function that returns tokens
            _log.warning("the item %s comes again when its lease has ended: %s", lease.event["id"], error)

    def _keep(self, lease: Lease, claimed_at: float, is_done: threading.Event) -> None:
        """Renews a lease. It lasts at least `lease_seconds` after the start of the last request that was answered."""
        pause = self._lease_seconds / 3
        requested_at = claimed_at
        ending = self._end_after(claimed_at, lease)
        while not is_done.wait(requested_at + pause - time.monotonic()) and not lease.lost.is_set():
            requested_at = time.monotonic()
            try:
                self._send("renew_lease", lease, pause, lease_seconds=self._lease_seconds)
                ending.cancel()
                ending = self._end_after(requested_at, lease)
            except (LeaseLostError, NotFoundError):
                if not is_done.is_set():
                    lease.lost.set()
            except Exception as error:  # without this thread, the lease would end
                _log.warning("the lease of %s was not renewed: %s", lease.event["id"], error)
        ending.cancel()

    def _end_after(self, requested_at: float, lease: Lease) -> threading.Timer:
        timer = threading.Timer(requested_at + self._lease_seconds - time.monotonic(), lease.lost.set)
        timer.daemon = True  # a renewal that hangs does not keep the program from its end
        timer.start()
        return timer
