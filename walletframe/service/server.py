"""An application served on loopback, in a thread of this process.

Nothing is logged to the console, no signal handler is installed, and the caller's event loop, if
there is one, is left alone.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from fastapi import FastAPI

HOST = "127.0.0.1"
_THREAD_NAME = "walletframe-sandbox"
_LONGEST_REQUEST = 1 << 20
_LOGGERS = ("uvicorn.error", "uvicorn.access", "uvicorn.asgi", "asyncio")


def _is_from_elsewhere(record: logging.LogRecord) -> bool:
    return record.threadName != _THREAD_NAME


class LoopbackServer:
    """A server that is up when it is made, until it is stopped; port 0 is any free one."""

    def __init__(self, app: FastAPI, *, port: int, headers: list[tuple[str, str]]) -> None:
        self._socket = socket.create_server((HOST, port))
        self.port: int = self._socket.getsockname()[1]
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(_is_from_elsewhere)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                loop="asyncio",
                http="h11",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                headers=headers,
                timeout_graceful_shutdown=1,
                h11_max_incomplete_event_size=_LONGEST_REQUEST,
            )
        )
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=_THREAD_NAME, daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.002)

    def stop(self) -> None:
        """Stop serving: the thread has ended and the socket is closed when this returns."""
        self._server.should_exit = True
        self._ended.wait()
        self._thread.join()
        self._socket.close()

    def wait(self) -> None:
        """Return when the server has been stopped, by another thread or an interrupt."""
        while not self._ended.wait(0.2):  # an interrupted join would take the thread for ended
            pass

    def _run(self) -> None:
        try:
            self._server.run([self._socket])
        finally:
            self._ended.set()
