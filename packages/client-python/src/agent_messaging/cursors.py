"""Where a program keeps its position in the feed of its agent."""

from __future__ import annotations

import os
import tempfile
from typing import Protocol


class CursorStore(Protocol):
    """Two functions. Store the position in your own database to move it in the transaction of your work."""

    def load(self) -> str | None:
        """The stored cursor; None if there is none."""
        ...

    def save(self, cursor: str) -> None:
        """Stores a cursor in place of the last one."""
        ...


class MemoryCursor:
    """A position that ends with the process."""

    def __init__(self, cursor: str | None = None) -> None:
        self._cursor = cursor

    def load(self) -> str | None:
        return self._cursor

    def save(self, cursor: str) -> None:
        self._cursor = cursor


class FileCursor:
    """A position in a file of its own, which is replaced as a whole.

    :param sync: whether each position reaches the disk before the next event, which takes milliseconds. Without it, the
        file survives the end of the process but may be empty after a power failure.
    """

    def __init__(self, path: str | os.PathLike[str], *, sync: bool = True) -> None:
        self._path = os.path.abspath(path)
        self._sync = sync

    def load(self) -> str | None:
        try:
            with open(self._path, encoding="ascii") as file:
                return file.read().strip() or None
        except FileNotFoundError:
            return None

    def save(self, cursor: str) -> None:
        folder, name = os.path.split(self._path)
        handle, draft = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(cursor)
                if self._sync:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(draft, self._path)
        except BaseException:
            os.unlink(draft)
            raise
