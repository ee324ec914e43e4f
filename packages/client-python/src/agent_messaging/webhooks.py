"""Signed requests of webhooks (Standard Webhooks)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from typing import cast

from ._operations import Event
from .errors import AgentMessagingError


class WebhookVerificationError(AgentMessagingError):
    """The request is not from the service, or is too old."""

    def __init__(self, message: str) -> None:
        super().__init__("WEBHOOK_NOT_VERIFIED", message)


def verify_webhook(body: bytes | str, headers: Mapping[str, str], secret: str, *, tolerance: float = 300) -> Event:
    """The event of a request to a webhook.

    :param body: as received, before it is parsed.
    :param headers: in any case.
    :param secret: starts with `whsec_`.
    :param tolerance: how many seconds the time of the request may differ from now.
    :raises WebhookVerificationError: if the signature is wrong, the request is too old, or the secret is malformed.
    """
    named = {name.lower(): value for name, value in headers.items()}
    identifier, timestamp = named.get("webhook-id", ""), named.get("webhook-timestamp", "")
    if not re.fullmatch(r"[0-9]{1,15}", timestamp) or abs(time.time() - int(timestamp)) > tolerance:
        raise WebhookVerificationError("The header webhook-timestamp is missing or too far from now.")
    payload = body.encode() if isinstance(body, str) else body
    expected = _sign(payload, identifier, timestamp, secret).encode()
    signatures = named.get("webhook-signature", "").encode(errors="replace").split(b" ")
    if not any(hmac.compare_digest(expected, signature) for signature in signatures):
        raise WebhookVerificationError("No signature in the header webhook-signature matches.")
    return cast(Event, json.loads(payload))


def sign_webhook(body: bytes | str, secret: str, *, identifier: str, now: float | None = None) -> dict[str, str]:
    """The headers of a signed request, for tests of your receiver. `now` is in seconds since the Unix epoch."""
    payload = body.encode() if isinstance(body, str) else body
    timestamp = str(int(time.time() if now is None else now))
    signature = _sign(payload, identifier, timestamp, secret)
    return {"webhook-id": identifier, "webhook-timestamp": timestamp, "webhook-signature": signature}


def _sign(payload: bytes, identifier: str, timestamp: str, secret: str) -> str:
    signed = f"{identifier}.{timestamp}.".encode(errors="replace") + payload
    key = _decode_secret(secret)
    return f"v1,{base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()}"


def _decode_secret(secret: str) -> bytes:
    try:
        match = re.fullmatch(r"whsec_([A-Za-z0-9+/]+={0,2})", secret or "")
        if match:
            return base64.b64decode(match[1])
    except ValueError:
        pass  # wrong padding
    raise WebhookVerificationError("The secret is malformed: it must be whsec_ and base64.")
