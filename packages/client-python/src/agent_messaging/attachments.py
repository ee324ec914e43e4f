"""Files: upload and download."""

from __future__ import annotations

import http.client
import io
import json
import math
import mimetypes
import os
import shutil
import ssl
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast
from urllib.parse import quote

from ._calls import Caller, Transport, new_key
from ._http import Body
from ._operations import Attachment, AttachmentsOperations
from .errors import ConflictError, ConnectionError, UnavailableError

_CHUNK = 64 * 1024


class AttachmentFiles(AttachmentsOperations):
    """Files of messages."""

    def __init__(self, caller: Caller, transport: Transport, context: ssl.SSLContext | None) -> None:
        super().__init__(caller)
        self._transport = transport
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )

    def upload(
        self,
        file: str | os.PathLike[str] | bytes | BinaryIO,
        *,
        filename: str | None = None,
        content_type: str | None = None,
        on_progress: Callable[[int, int], None] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Attachment:
        """Uploads a file. Then name its id in `attachment_ids` of one message.

        :param file: a path, the bytes, or a file that is open for reading bytes and can be positioned.
        :param filename: default: the name of the file.
        :param content_type: default: by the ending of the name.
        :param on_progress: called with the number of bytes that were sent, and of all bytes.
        """
        if isinstance(file, (str, os.PathLike)):
            path = os.fspath(file)
            with open(path, "rb") as opened:
                name = filename or os.path.basename(path)
                return self.upload(
                    opened,
                    filename=name,
                    content_type=content_type,
                    on_progress=on_progress,
                    idempotency_key=idempotency_key,
                    timeout=timeout,
                )
        name = filename or os.path.basename(str(getattr(file, "name", "file")))
        media_type = content_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
        body = _multipart(file, name, media_type, on_progress)
        key = idempotency_key or new_key()
        response = self._transport.send("POST", "/attachments", body, key=key, timeout=timeout)
        return cast(Attachment, json.loads(response.body))

    def download(self, attachment_id: str, *, timeout: float = 60) -> bytes:
        """The content of a file.

        :param timeout: seconds to wait for the scan of the file, and for data.
        """
        content = io.BytesIO()
        self._fetch(attachment_id, content, timeout)
        return content.getvalue()

    def save(self, attachment_id: str, path: str | os.PathLike[str], *, timeout: float = 60) -> None:
        """Writes the content of a file to a path. The path has the whole content or is not changed."""
        folder, name = os.path.split(os.path.abspath(path))
        handle, draft = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                self._fetch(attachment_id, file, timeout)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise

    def _fetch(self, attachment_id: str, file: BinaryIO, timeout: float) -> None:
        url = self._wait_for_url(attachment_id, timeout)
        try:
            # The signed URL needs no token, and must not get one.
            with self._opener.open(url, timeout=timeout) as response:
                shutil.copyfileobj(response, file, _CHUNK)
                expected = response.headers.get("Content-Length")
        except urllib.error.HTTPError as error:
            raise UnavailableError("DOWNLOAD_FAILED", f"The file store answered {error.code}.") from error
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionError("CONNECTION_FAILED", str(error)) from error
        if expected is not None and file.tell() != int(expected):
            raise ConnectionError("CONNECTION_FAILED", f"Expected {expected} bytes, received {file.tell()}.")

    def _wait_for_url(self, attachment_id: str, timeout: float) -> str:
        deadline = time.monotonic() + timeout
        path = f"/attachments/{quote(attachment_id, safe='')}/content"
        while True:
            try:
                return str(self._transport.send("GET", path, timeout=timeout).headers["Location"])
            except ConflictError as error:
                # A file that could not be scanned names an hour, after which its sender may have sent it again.
                retry_at = time.monotonic() + (error.retry_after or math.inf)
                if error.code != "ATTACHMENT_NOT_READY" or retry_at >= deadline:
                    raise
                time.sleep(retry_at - time.monotonic())


def _multipart(
    file: bytes | BinaryIO, name: str, media_type: str, on_progress: Callable[[int, int], None] | None
) -> Body:
    """One file as multipart/form-data (RFC 7578). Each attempt reads the file again from where it was."""
    source = io.BytesIO(file) if isinstance(file, bytes) else file
    start = source.tell()
    size = source.seek(0, os.SEEK_END) - start
    boundary = uuid.uuid4().hex
    quoted = name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"\r\n'
        f"Content-Type: {media_type}\r\n\r\n"
    ).encode()
    tail = f"\r\n--{boundary}--\r\n".encode()

    def read() -> Iterator[bytes]:
        source.seek(start)
        yield head
        while chunk := source.read(_CHUNK):
            yield chunk
            if on_progress is not None:
                on_progress(source.tell() - start, size)
        yield tail

    return Body(f"multipart/form-data; boundary={boundary}", len(head) + size + len(tail), read)
