"""HTTP with connections that are kept open."""

from __future__ import annotations

import http.client
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import Message
from urllib.parse import urlsplit

from .errors import AgentMessagingError, ConnectionError, ValidationError


@dataclass(frozen=True)
class Response:
    """A response whose body was read."""

    status: int
    headers: Message
    body: bytes


@dataclass(frozen=True)
class Body:
    """The body of a request. `open` is called for each attempt, so that a retry sends the bytes again."""

    media_type: str
    length: int
    open: Callable[[], bytes | Iterator[bytes]]


class Connections:
    """Connections to one server. Safe to use from several threads."""

    def __init__(self, url: str, context: ssl.SSLContext | None = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError(f"{url!r} is not an http or https URL")
        self._host, self._port, self._secure = parts.hostname, parts.port, parts.scheme == "https"
        self._context = context
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        if self._secure:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def _take_idle(self, timeout: float) -> http.client.HTTPConnection | None:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None and connection.sock is not None:
            connection.sock.settimeout(timeout)
        return connection

    def request(
        self, method: str, path: str, headers: dict[str, str], body: Body | None, *, timeout: float, may_reuse: bool
    ) -> Response:
        """Sends a request and reads the response.

        :param timeout: seconds without any data.
        :param may_reuse: whether to use an open connection. The server may close it at that moment, so only for
            requests that can be repeated.
        """
        idle = self._take_idle(timeout) if may_reuse else None
        connection = idle or self._connect(timeout)
        is_sent = True
        try:
            if body is not None:
                headers = {**headers, "Content-Type": body.media_type, "Content-Length": str(body.length)}
            try:
                connection.request(method, path, body.open() if body else None, headers)
            except (BrokenPipeError, ConnectionResetError):
                is_sent = False  # the server may have refused the body before its end: the response says why
            received = connection.getresponse()
            response = Response(received.status, received.headers, received.read())
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if idle is not None and isinstance(error, (BrokenPipeError, ConnectionResetError)):
                # The server has closed it while it was idle.
                return self.request(method, path, headers, body, timeout=timeout, may_reuse=False)
            raise _to_connection_error(error) from error
        except BaseException:
            connection.close()
            raise
        if received.will_close or not is_sent:
            connection.close()
        else:
            with self._lock:
                self._idle.append(connection)
        return response

    def close(self) -> None:
        """Closes the connections that are not in use."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _to_connection_error(error: Exception) -> AgentMessagingError:
    if isinstance(error, http.client.InvalidURL):
        return ValidationError("INVALID_URL", str(error))
    if isinstance(error, TimeoutError):
        return ConnectionError("TIMEOUT", "The service did not respond in time.")
    return ConnectionError("CONNECTION_FAILED", str(error) or type(error).__name__)
