"""Errors. Each kind has a class; decide by class or by `code`, never by the message."""

from __future__ import annotations

import builtins
from typing import Any


class AgentMessagingError(Exception):
    """The base of all errors of this library."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        request_id: str | None = None,
        details: list[dict[str, Any]] | None = None,
        approval: dict[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        """HTTP status; None without a response."""
        self.request_id = request_id
        """Include it when you report a problem."""
        self.details = details or []
        """The invalid fields of the request."""
        self.approval = approval
        """The approval that the call waits for, or that was denied: `id`, `expires_at`, and `url`, its page."""
        self.retry_after = retry_after
        """Seconds after which a retry makes sense; None if the service named none."""


class AuthenticationError(AgentMessagingError):
    """401: the token or the credential is missing, invalid or expired."""


class PermissionError(AgentMessagingError, builtins.PermissionError):
    """403: the call is not allowed. The code says why."""


class NotFoundError(AgentMessagingError):
    """404: the object does not exist, or you cannot see it."""


class ConflictError(AgentMessagingError):
    """409: the current state does not allow the call."""


class LeaseLostError(ConflictError):
    """The lease has expired or ended, so another consumer may have the item. Nothing was written."""


class RateLimitError(AgentMessagingError):
    """429: too many requests."""


class ValidationError(AgentMessagingError):
    """Any other 4xx: correct the request. `details` names the fields."""


class ApprovalRequiredError(AgentMessagingError):
    """202: a person must approve or review the call first. It runs then; the event `approval.resolved` tells the result."""


class UnavailableError(AgentMessagingError):
    """5xx: the service cannot answer now."""


class ConnectionError(AgentMessagingError, builtins.ConnectionError):
    """No response: the connection failed, was lost, or timed out. A write may have taken effect."""


class GapError(AgentMessagingError):
    """Events after the stored position are no longer kept.

    Read your state with calls, then iterate over the same stream again: it continues with the oldest event that is kept.
    """

    def __init__(self) -> None:
        super().__init__("GAP", "Events after your position are no longer kept. Read your state, then continue.")


_CLASSES: dict[int, type[AgentMessagingError]] = {
    202: ApprovalRequiredError,
    401: AuthenticationError,
    403: PermissionError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def to_error(status: int, body: Any, *, request_id: str | None = None, retry_after: float | None = None) -> AgentMessagingError:
    """The error of a response that is refused or waits for a person. Without the JSON of the service, it comes from a proxy."""
    try:
        error: dict[str, Any] = dict(body["error"])
    except (TypeError, KeyError, ValueError):
        error = {"code": f"HTTP_{status}", "message": f"The response has status {status} and is not from the service."}
    code = str(error.get("code"))
    kind = _CLASSES.get(status, UnavailableError if status >= 500 else ValidationError)
    return (LeaseLostError if code == "LEASE_LOST" else kind)(
        code,
        str(error.get("message")),
        status=status,
        request_id=error.get("request_id") or request_id,
        details=error.get("details"),
        approval=error.get("approval"),
        retry_after=retry_after,
    )
