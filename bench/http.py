"""A caller that costs next to nothing, so that the server is measured: one open connection, requests written by hand."""

from __future__ import annotations

import asyncio
import json
from typing import Any


class Connection:
    def __init__(self, port: int, secret: str) -> None:
        self.port, self.secret = port, secret
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """The answer's JSON. Raises RuntimeError for anything but 200 and 201."""
        if self.reader is None or self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        sent = json.dumps(body).encode() if body is not None else b""
        head = (
            f"{method} /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.secret}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
        )
        self.writer.write(head.encode() + sent)
        answer = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(answer.split("content-length:")[1].split("\r\n")[0])
        text = await self.reader.readexactly(length)
        if answer.split(" ")[1] not in ("200", "201"):
            raise RuntimeError(text.decode())
        found: dict[str, Any] = json.loads(text)
        return found

    async def end(self) -> None:
        if self.writer is not None:
            self.writer.close()
            await self.writer.wait_closed()
