"""Tasks: questions that stay open until they are answered or ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any, Literal, cast

from ._calls import Caller, backoff, is_transient
from ._operations import Task, TasksOperations, TaskWithMessages
from .errors import AgentMessagingError

_WAITING = ("input_required", "auth_required")
_ENDED = ("completed", "failed", "canceled", "rejected")

_State = Literal["working", "input_required", "auth_required", "completed", "failed", "rejected"]


def is_ended(task: Task) -> bool:
    """Whether a task has ended: it never changes again."""
    return task["state"] in _ENDED


class OpenTask:
    """A task that this agent is asked, and what it can report. A message is a text, or the fields of a message."""

    def __init__(self, tasks: TasksOperations, task: TaskWithMessages) -> None:
        self._tasks = tasks
        self.task = task
        """The task with its messages, as it was when it came."""
        self.id = task["id"]
        self.state: str = task["state"]
        self.generation = task["generation"]

    def working(self, note: str | dict[str, Any] | None = None) -> Task:
        """Says that you work on it, with a note if there is one."""
        return self._report("working", note)

    def ask_back(self, question: str | dict[str, Any]) -> Task:
        """Asks the client for something. The task comes again after the answer."""
        return self._report("input_required", question)

    def complete(self, answer: str | dict[str, Any] | None = None, data: Any = None) -> Task:
        """Ends it with the answer: a text, JSON in `data`, or both."""
        return self._report("completed", answer, data)

    def fail(self, reason: str | dict[str, Any] | None = None) -> Task:
        return self._report("failed", reason)

    def reject(self, reason: str | dict[str, Any] | None = None) -> Task:
        return self._report("rejected", reason)

    def _report(self, state: _State, text: str | dict[str, Any] | None, data: Any = None) -> Task:
        message = {"content": text} if isinstance(text, str) else text
        changed = self._tasks.update(self.id, state, message=cast(Any, message), data=data)
        self.state, self.generation = changed["state"], changed["generation"]
        return changed


class TaskWork(TasksOperations):
    """Tasks that others gave you, and those that you gave."""

    def wait(
        self, task_id: str, *, after_generation: int = 0, timeout: float | None = None
    ) -> TaskWithMessages | None:
        """Waits until a task has ended or waits for its client, over restarts of the service.

        :param after_generation: only a state of a newer generation ends the wait. Pass that of your last answer.
        :param timeout: seconds; by default there is no limit.
        :returns: the task; None if it has not in time. A program that was started again waits with the id of the task.
        """
        ends_at = time.monotonic() + (float("inf") if timeout is None else timeout)
        known, failures = after_generation, 0
        while True:
            left = max(0.0, ends_at - time.monotonic())
            seconds = int(min(25, left))
            try:
                task = self.get(task_id, after_generation=known, wait_seconds=seconds, timeout=seconds + 15)
                if task["state"] in _WAITING + _ENDED and task["generation"] > after_generation:
                    return task
                known, failures = max(known, task["generation"]), 0
            except AgentMessagingError as error:
                if not is_transient(error):
                    raise
                failures += 1
                time.sleep(min(left, backoff(min(failures, 10), error.retry_after)))
            # The rest of less than a second is no wait of the service.
            if ends_at - time.monotonic() < 1:
                return None

    def work(self, *, stop: threading.Event | None = None) -> Iterator[OpenTask]:
        """Iterates over the open tasks that this agent is asked: first those that are open now, oldest first, then new ones.

        A task comes again when the client has answered, and after any other change that you did not report with its
        methods. After a restart, all that are open come again. It needs no inbox; several instances get the same tasks,
        unless they share one.

        :param stop: ends the loop before its next task, after at most 25 seconds.
        """
        stopping = stop or threading.Event()
        known: dict[str, int] = {}
        cursor, is_stale, failures = "latest", True, 0
        while not stopping.is_set():
            due: list[TaskWithMessages] = []
            try:
                # The position is taken before the list, so that no change is missed.
                page = _read_events(self._caller, cursor, 0 if is_stale else 25)
                cursor = page["cursor"]
                has_changed = any(event["type"] == "task.updated" for event in page["events"])
                if is_stale or has_changed or page.get("gap"):
                    due = self._read_due(known)
                is_stale, failures = False, 0
            except AgentMessagingError as error:
                if not is_transient(error):
                    raise
                is_stale = True
                failures += 1
                stopping.wait(backoff(min(failures, 10), error.retry_after))
            for task in due:
                if stopping.is_set():
                    return
                open_task = OpenTask(self, task)
                yield open_task
                known[open_task.id] = open_task.generation

    def _read_due(self, known: dict[str, int]) -> list[TaskWithMessages]:
        """The tasks that the agent has to work on, oldest first."""
        tasks = list(self.list(role="asked", state="open", limit=100))
        for ended in known.keys() - {task["id"] for task in tasks}:
            del known[ended]

        def is_due(task: Task | TaskWithMessages) -> bool:
            return task["state"] not in _WAITING + _ENDED and task["generation"] > known.get(task["id"], 0)

        ordered = sorted(filter(is_due, tasks), key=lambda task: task["created_at"])
        return [task for task in (self.get(found["id"]) for found in ordered) if is_due(task)]


def _read_events(caller: Caller, cursor: str, seconds: int) -> dict[str, Any]:
    page = caller.call("list_events", {"cursor": cursor, "limit": 100, "wait": seconds}, timeout=seconds + 15)
    return cast("dict[str, Any]", page)
