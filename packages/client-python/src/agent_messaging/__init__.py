"""Client for the Agent Messaging Service."""

from ._calls import Pages
from ._operations import Event
from .auth import ClientCredentials
from .client import Client
from .cursors import CursorStore, FileCursor, MemoryCursor
from .errors import (
    ApprovalRequiredError,
    AuthenticationError,
    AgentMessagingError,
    ConflictError,
    ConnectionError,
    GapError,
    LeaseLostError,
    NotFoundError,
    PermissionError,
    RateLimitError,
    UnavailableError,
    ValidationError,
)
from .events import EventStream
from .inbox import Lease
from .tasks import OpenTask
from .webhooks import WebhookVerificationError, sign_webhook, verify_webhook

__all__ = [
    "ApprovalRequiredError",
    "AuthenticationError",
    "Client",
    "ClientCredentials",
    "AgentMessagingError",
    "ConflictError",
    "ConnectionError",
    "CursorStore",
    "Event",
    "EventStream",
    "FileCursor",
    "GapError",
    "Lease",
    "LeaseLostError",
    "MemoryCursor",
    "NotFoundError",
    "OpenTask",
    "Pages",
    "PermissionError",
    "RateLimitError",
    "UnavailableError",
    "ValidationError",
    "WebhookVerificationError",
    "sign_webhook",
    "verify_webhook",
]
