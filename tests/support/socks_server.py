"""A SOCKS5 proxy (RFC 1928 and 1929) that records its connections."""

import contextlib
import socket
from threading import Thread

LOGIN, CONNECT, IPV4, NAME = 2, 1, 1, 3


class SocksProxy:
    """A proxy that connects all clients to `target`, and requires a login if one is set."""

    def __init__(self, target, *, login=None, reply_code=0):
        self.received = bytearray()
        self.targets = []
        self._target, self._login, self._reply_code = target, login, reply_code
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = "{}:{}".format(*self._listener.getsockname())
        self._threads = [Thread(target=self._accept)]

    def __enter__(self):
        self._threads[0].start()
        return self

    def __exit__(self, *exc):
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:  # they end when the client has closed its connections
            thread.join()
        self._listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                self._start(self._serve, self._listener.accept()[0])

    def _start(self, work, *args):
        self._threads.append(Thread(target=work, args=args))
        self._threads[-1].start()

    def _serve(self, conn):
        with conn, contextlib.suppress(OSError):
            _, count = self._take(conn, 2)
            self._take(conn, count)
            conn.sendall(bytes([5, LOGIN if self._login else 0]))
            if self._login:
                self._take(conn, 1)
                arguments = [self._take(conn, self._take(conn, 1)[0]).decode() for _ in range(2)]
                conn.sendall(bytes([1, arguments != list(self._login)]))
            _, _, _, kind = self._take(conn, 4)
            if kind == NAME:
                host = self._take(conn, self._take(conn, 1)[0]).decode()
            else:
                host = socket.inet_ntop(socket.AF_INET, self._take(conn, 4))
            port = int.from_bytes(self._take(conn, 2), "big")
            self.targets.append((host, port))
            conn.sendall(bytes([5, self._reply_code, 0, IPV4, 0, 0, 0, 0, 0, 0]))
            if not self._reply_code:
                self._relay_both(conn)

    def _relay_both(self, conn):
        with socket.create_connection(self._target) as upstream:
            back = Thread(target=self._relay, args=[upstream, conn])
            back.start()
            self._relay(conn, upstream)
            back.join()

    def _relay(self, source, sink):
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                self.received += piece
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)

    def _take(self, conn, count):
        taken = b""
        while len(taken) < count:
            piece = conn.recv(count - len(taken))
            if not piece:
                raise ConnectionAbortedError
            taken += piece
        self.received += taken
        return taken
