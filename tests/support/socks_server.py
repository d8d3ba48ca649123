"""A SOCKS5 proxy (RFC 1928 and 1929) that records its connections."""

import contextlib
import socket
from threading import Thread

LOGIN, CONNECT, IPV4, NAME = 2, 1, 1, 3


class SocksProxy:
    """Leads each name to its place in `leads_to`, and wants a login if one is set."""

    def __init__(self, leads_to, *, login=None, says=0):
        self.received = bytearray()
        self.targets = []
        self._leads_to, self._login, self._says = leads_to, login, says
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = "{}:{}".format(*self._listener.getsockname())
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

    def _serve(self, near):
        with near, contextlib.suppress(OSError):
            _, count = self._take(near, 2)
            self._take(near, count)
            near.sendall(bytes([5, LOGIN if self._login else 0]))
            if self._login:
                self._take(near, 1)
                arguments = [self._take(near, self._take(near, 1)[0]).decode() for _ in range(2)]
                near.sendall(bytes([1, arguments != list(self._login)]))
            _, _, _, kind = self._take(near, 4)
            if kind == NAME:
                host = self._take(near, self._take(near, 1)[0]).decode()
            else:
                host = socket.inet_ntop(socket.AF_INET, self._take(near, 4))
            port = int.from_bytes(self._take(near, 2), "big")
            self.targets.append((host, port))
            near.sendall(bytes([5, self._says, 0, IPV4, 0, 0, 0, 0, 0, 0]))
            if not self._says:
                self._relay_both(near)

    def _relay_both(self, near):
        with socket.create_connection(self._leads_to) as far:
            back = Thread(target=self._relay, args=[far, near])
            back.start()
            self._relay(near, far)
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
