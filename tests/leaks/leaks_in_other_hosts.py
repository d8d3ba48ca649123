"""Surfaces that other hosts offer: requests as they, and listeners on the way, see them."""

import contextlib
import socket
from threading import Thread
from urllib.parse import quote_plus

from canned_service import answer, wallet
from certificates import certified
from leak_ground import WALLET, running
from leak_scan import KEY
from leak_surfaces import surface, surfaces
from socks_server import SocksProxy

REDIRECTS = (301, 302, 303, 307, 308)


def requests_to(server):
    """Return the requests that a server got, with their headers."""
    return repr([server.paths, server.headers_seen])


@surfaces(REDIRECTS)
def target(ground, variant):
    """The request that the target of a redirect gets."""
    with running() as other:
        target = f"{other.base_url}/wallets/details?address={WALLET}&apiKey={quote_plus(KEY)}"
        ground.server.default = (variant, {"Location": target}, b"")
        assert "redirect" in ground.fetch().wallets.error.item()
        assert ground.server.paths
        assert other.paths == []
        return requests_to(other)


@surface
def plain_proxy(ground):
    """The bytes that a proxy for http gets."""
    ground.answer()
    with running() as proxy:
        for name in ("http_proxy", "all_proxy"):
            ground.patch.setenv(name, proxy.base_url)
        ground.patch.setenv("no_proxy", "")
        assert ground.fetch().wallets.status.item() == "ok"
        assert ground.server.paths
        return requests_to(proxy)


@surface
def headers(ground):
    """The headers of the requests that follow an echo in every header."""
    text = {"Set-Cookie": f"key={quote_plus(KEY)}", "Location": f"/?apiKey={quote_plus(KEY)}"}
    ground.server.add_reply(b"", status=302, **text)
    ground.server.add_reply(answer(wallet()), **text, ETag=f'"{quote_plus(KEY)}"')
    ground.answer()
    with ground.client() as client:
        for _ in range(3):
            client.fetch(WALLET, refresh=True, on_failure="ignore")
    assert len(ground.server.headers_seen) == 3
    return repr(ground.server.headers_seen)


class Tunnel:
    """A proxy that lets one connection through, and records it."""

    def __init__(self):
        self.received = bytearray()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://{}:{}".format(*self._listener.getsockname())
        self._thread = Thread(target=self._serve)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        self._listener.close()
        self._thread.join()

    def _serve(self):
        self._listener.settimeout(5)
        near, _ = self._listener.accept()
        with near:
            while not self.received.endswith(b"\r\n\r\n"):
                self.received += near.recv(65536)
            host, _, port = self.received.split()[1].decode().partition(":")
            with socket.create_connection((host, int(port))) as far:
                near.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
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


@surface
def tunnel(ground):
    """The bytes that a proxy for https gets, and a listener on the line behind it."""
    context, path = certified(ground.folder, "127.0.0.1")
    ground.patch.setenv("REQUESTS_CA_BUNDLE", path)
    ground.patch.setenv("no_proxy", "")
    with running() as service, Tunnel() as proxy:
        ground.patch.setenv("https_proxy", proxy.url)
        service.socket = context.wrap_socket(service.socket, server_side=True)
        service.default = (200, {}, answer(wallet()))
        base_url = service.base_url.replace("http:", "https:")
        assert ground.fetch(base_url=base_url).wallets.status.item() == "ok"
        assert service.paths[0].endswith(f"apiKey={quote_plus(KEY)}")
    return bytes(proxy.received)


@surface
def socks(ground):
    """The bytes that a SOCKS proxy gets, and a listener on the line behind it."""
    context, path = certified(ground.folder, "127.0.0.1")
    ground.patch.setenv("REQUESTS_CA_BUNDLE", path)
    ground.patch.setenv("no_proxy", "")
    with running() as service, SocksProxy(service.server_address[:2]) as proxy:
        ground.patch.setenv("https_proxy", f"socks5h://{proxy.address}")
        service.socket = context.wrap_socket(service.socket, server_side=True)
        service.default = (200, {}, answer(wallet()))
        base_url = service.base_url.replace("http:", "https:")
        assert ground.fetch(base_url=base_url).wallets.status.item() == "ok"
        assert service.paths[0].endswith(f"apiKey={quote_plus(KEY)}")
    assert proxy.targets
    return bytes(proxy.received)
