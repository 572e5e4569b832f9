"""Identifiers that sort by time: UUID version 7 (RFC 9562), strictly increasing within a process."""

import os
import threading
import time
import uuid

_lock = threading.Lock()
_last = 0


def uuid7() -> uuid.UUID:
    """A new identifier: 48 bits of Unix milliseconds, 12 bits of fraction or counter, 62 random bits."""
    global _last
    with _lock:
        stamp = time.time_ns() * 4096 // 1_000_000  # milliseconds with a 12-bit fraction
        _last = stamp = max(stamp, _last + 1)
    random = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
    milliseconds, fraction = divmod(stamp, 4096)
    return uuid.UUID(int=(milliseconds << 80) | (7 << 76) | (fraction << 64) | (2 << 62) | random)
