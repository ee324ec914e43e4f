"""Calls: the request of an operation, retries, and lists."""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import quote, urlencode

from ._http import Body, Connections, Response
from .auth import TokenSource
from .errors import (
    AuthenticationError,
    AgentMessagingError,
    ConflictError,
    ConnectionError,
    RateLimitError,
    UnavailableError,
    ValidationError,
    to_error,
)

T = TypeVar("T")


class Unset:
    """The type of a field that is not sent, where None is sent as null."""


UNSET = Unset()


@dataclass(frozen=True)
class Operation:
    """How an operation is called."""

    method: str
    path: str
    has_key: bool = False
    nullable: tuple[str, ...] = ()
    """Fields that can be null. Of the others, None is not sent."""


class Caller(Protocol):
    def call(
        self,
        operation: str,
        input: Mapping[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> Any: ...


class Pages(Generic[T]):
    """A list. Iterate over its items, or over its pages with `pages()`. Pages are requested when they are needed."""

    def __init__(self, fetch: Callable[[str | None], dict[str, Any]], items: str) -> None:
        self._fetch = fetch
        self._items = items

    def pages(self, cursor: str | None = None) -> Iterator[dict[str, Any]]:
        """Every page as the service returns it, starting after `cursor`."""
        while True:
            page = self._fetch(cursor)
            yield page
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page[self._items]


class Noun:
    """The operations on one kind of object."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def _call(self, operation: str, input: Mapping[str, Any], **options: Any) -> Any:
        return self._caller.call(operation, input, **options)

    def _pages(self, operation: str, input: Mapping[str, Any], items: str, **options: Any) -> Pages[Any]:
        return Pages(lambda cursor: self._call(operation, {**input, "cursor": cursor}, **options), items)


def new_key() -> str:
    """An idempotency key."""
    return str(uuid.uuid4())


def backoff(attempt: int, retry_after: float | None = None) -> float:
    """Seconds before attempt `attempt` + 1: what the service named, else exponential with full jitter."""
    if retry_after is not None:
        return retry_after + random.uniform(0, 0.5)
    return random.uniform(0, min(30.0, 0.2 * 2**attempt))


def is_transient(error: AgentMessagingError) -> bool:
    """Whether the same request may succeed later."""
    if isinstance(error, RateLimitError):
        return all(detail.get("reason") != "loop" for detail in error.details)
    if isinstance(error, ConflictError):
        return error.retry_after is not None
    return isinstance(error, (ConnectionError, UnavailableError))


class Transport:
    """Sends requests with a token, and repeats those that can be repeated safely."""

    def __init__(
        self,
        connections: Connections,
        prefix: str,
        tokens: TokenSource,
        *,
        timeout: float,
        max_retries: int,
        max_wait: float,
    ) -> None:
        self._connections = connections
        self._prefix = prefix
        self._tokens = tokens
        self._timeout = timeout
        self._max_retries = max_retries
        self._max_wait = max_wait

    def call(self, operation: Operation, input: Mapping[str, Any], *, key: str | None, **options: Any) -> Any:
        """Runs an operation; returns its JSON, its text, or None."""
        fields = {
            name: value
            for name, value in input.items()
            if value is not UNSET and (value is not None or name in operation.nullable)
        }
        path = operation.path
        for name in [name for name in fields if f"{{{name}}}" in path]:
            value = str(fields.pop(name))
            if value in ("", ".", ".."):
                raise ValidationError("VALIDATION_ERROR", f"{name}: {value!r} is not valid")
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
        if operation.method == "GET" and fields:
            path += f"?{urlencode({name: _to_text(value) for name, value in fields.items()})}"
        has_body = operation.method in ("POST", "PATCH") or (operation.method == "PUT" and fields)
        body = json_body(fields) if has_body else None
        key = (key or new_key()) if operation.has_key else None
        response = self.send(operation.method, path, body, key=key, **options)
        if not response.body:
            return None
        is_json = response.headers.get("Content-Type", "").startswith("application/json")
        return json.loads(response.body) if is_json else response.body.decode()

    def send(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        *,
        key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> Response:
        """Sends a request. Reads, and writes with a key, are repeated after a transient error.

        :raises AgentMessagingError: of the class for the status.
        """
        is_safe = method == "GET" or key is not None
        retries = (self._max_retries if max_retries is None else max_retries) if is_safe else 0
        attempt = 0
        has_renewed = False
        while True:
            token = None
            try:
                token = self._tokens.token()
                headers = {"Authorization": f"Bearer {token}", **({"Idempotency-Key": key} if key else {})}
                response = self._connections.request(
                    method, self._prefix + path, headers, body, timeout=timeout or self._timeout, may_reuse=is_safe
                )
                if response.status < 400 and response.status != 202:
                    return response
                raise read_error(response)
            except AgentMessagingError as error:
                is_refused = isinstance(error, AuthenticationError) and token is not None
                if is_refused and not has_renewed and self._tokens.renew(token or ""):
                    has_renewed = True
                    continue
                is_late = (error.retry_after or 0) > self._max_wait
                if attempt >= retries or is_late or not is_transient(error):
                    raise
                time.sleep(backoff(attempt, error.retry_after))
                attempt += 1


def json_body(value: object) -> Body:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return Body("application/json", len(text), lambda: text)


def read_error(response: Response) -> AgentMessagingError:
    """The error of a response with the status 202, or 400 or more."""
    try:
        body = json.loads(response.body)
    except ValueError:
        body = None
    after = response.headers.get("Retry-After", "")
    return to_error(
        response.status,
        body,
        request_id=response.headers.get("X-Request-Id"),
        retry_after=float(after) if after.isdigit() else None,
    )


def _to_text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)
