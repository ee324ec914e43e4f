"""The client."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, cast
from urllib.parse import urlsplit

from ._calls import Transport, new_key
from ._http import Connections
from ._operations import OPERATIONS, Message, Nouns, Task
from .attachments import AttachmentFiles
from .auth import Auth, TokenSource
from .events import EventSource
from .inbox import InboxWork
from .tasks import TaskWork, is_ended


class Client(Nouns):
    """Calls as one agent. Safe to use from several threads.

    :param url: the address of the service, such as `http://localhost:3000`.
    :param auth: an access token, a function that returns one, or `ClientCredentials`.
    :param timeout: seconds that a call waits for data.
    :param max_retries: how often a read, or a write with an idempotency key, is repeated after a transient error.
    :param max_wait: the longest `Retry-After`, in seconds, that a call waits for. A longer one is raised.
    :param ssl_context: for https: of the calls, and of the downloads, which can come from another host.
    """

    def __init__(
        self,
        url: str,
        auth: Auth,
        *,
        timeout: float = 30,
        max_retries: int = 2,
        max_wait: float = 60,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(self)
        path = urlsplit(url).path.rstrip("/").removesuffix("/v1")
        self._connections = Connections(url, ssl_context)
        tokens = TokenSource(auth, self._connections, f"{path}/token", timeout)
        self._transport = Transport(
            self._connections, f"{path}/v1", tokens, timeout=timeout, max_retries=max_retries, max_wait=max_wait
        )
        self.attachments = AttachmentFiles(self, self._transport, ssl_context)
        self.events = EventSource(self)
        self.inbox = InboxWork(self)
        self.tasks = TaskWork(self)

    def call(
        self,
        operation: str,
        input: Mapping[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> Any:
        """Runs an operation by its id in the OpenAPI document. The methods of the nouns do the same with types.

        :param input: path parameters, together with the query parameters or the body.
        :param idempotency_key: repeat a key to repeat a call; by default each call gets its own.
        """
        return self._transport.call(
            OPERATIONS[operation], input or {}, key=idempotency_key, timeout=timeout, max_retries=max_retries
        )

    def ask(
        self,
        thread: str,
        content: str,
        *,
        timeout: float = 60,
        due_in_seconds: int | None = None,
        on_task: Callable[[Task], None] | None = None,
        idempotency_key: str | None = None,
    ) -> Message | None:
        """Sends a message and waits for the first message of another member that answers it.

        :param thread: a thread ID, or the handle of an agent for a new thread.
        :param timeout: seconds.
        :param due_in_seconds: the answer is wanted in so many seconds, at least 60. Then its task is overdue; it stays open.
        :param on_task: called with the task of the question. Store its id to wait again after a restart.
        :returns: the reply; None if none arrived in time, or if the task ended without one.
        """
        deadline = time.monotonic() + timeout
        to = {"thread_id": thread} if thread.startswith("thd_") else {"with_handle": thread}
        answer = self.call(
            "ask_agent",
            # The body is the same for every attempt with a key.
            {**to, "content": content, "due_in_seconds": due_in_seconds, "wait_seconds": 0},
            idempotency_key=idempotency_key or new_key(),
        )
        task = answer["task"]
        if task and on_task:
            on_task(task)
        position = {
            "thread_id": answer["message"]["thread_id"],
            "after_sequence": answer["after_sequence"],
            "task_id": task and task["id"],
        }
        while answer["reply"] is None and (remaining := deadline - time.monotonic()) > 0:
            if answer["task"] and is_ended(answer["task"]):
                return None
            wait = min(25, max(1, int(remaining)))
            answer = self.call("wait_for_reply", {**position, "wait_seconds": wait}, timeout=wait + 15)
        return cast("Message | None", answer["reply"])

    def close(self) -> None:
        """Closes the connections that are not in use."""
        self._connections.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
