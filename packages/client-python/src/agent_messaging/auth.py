"""Sign-in: a token, a function that gives a token, or client credentials."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from ._http import Body, Connections
from .errors import AuthenticationError, UnavailableError


@dataclass(frozen=True)
class ClientCredentials:
    """A credential from the console or from `ams credential create`."""

    client_id: str
    client_secret: str = field(repr=False)
    scopes: str | None = None
    """Separated by spaces. Default: all scopes of the credential."""


Auth = str | Callable[[], str] | ClientCredentials


class TokenSource:
    """The current access token. One request for a token at a time."""

    def __init__(self, auth: Auth, connections: Connections, path: str, timeout: float) -> None:
        self._auth = auth
        self._connections = connections
        self._path = path
        self._timeout = timeout
        self._lock = threading.Lock()
        self._token: str | None = auth if isinstance(auth, str) else None
        self._renew_at = float("inf")

    def token(self) -> str:
        """The token for a request. It is renewed before it ends."""
        with self._lock:
            if self._token is None or time.monotonic() >= self._renew_at:
                self._fetch()
            return self._token or ""

    def renew(self, refused: str) -> bool:
        """Gets a new token after one was refused. False: there is no other one."""
        if isinstance(self._auth, str):
            return False
        with self._lock:
            if self._token == refused:
                self._fetch()
            return self._token != refused

    def _fetch(self) -> None:
        if callable(self._auth):
            self._token = self._auth()
        elif isinstance(self._auth, ClientCredentials):
            self._token, expires_in = self._request(self._auth)
            self._renew_at = time.monotonic() + expires_in - min(60.0, expires_in / 5)

    def _request(self, credentials: ClientCredentials) -> tuple[str, float]:
        scope = {"scope": credentials.scopes} if credentials.scopes else {}
        form = urlencode({"grant_type": "client_credentials", **scope}).encode()
        pair = f"{quote(credentials.client_id, safe='')}:{quote(credentials.client_secret, safe='')}"
        response = self._connections.request(
            "POST",
            self._path,
            {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}", "Accept": "application/json"},
            Body("application/x-www-form-urlencoded", len(form), lambda: form),
            timeout=self._timeout,
            may_reuse=False,
        )
        try:
            answer = json.loads(response.body)
            if response.status == 200:
                return str(answer["access_token"]), float(answer["expires_in"])
            code = message = answer["error"]
            if isinstance(code, dict):  # a load balancer answered with an error of the API
                code, message = code["code"], code["message"]
            message = answer.get("error_description", message)
        except (ValueError, KeyError, TypeError, AttributeError):
            code, message = f"HTTP_{response.status}", f"{self._path} answered {response.status}"
        transient = response.status == 429 or response.status >= 500
        kind = UnavailableError if transient else AuthenticationError
        raise kind(str(code), str(message), status=response.status)
