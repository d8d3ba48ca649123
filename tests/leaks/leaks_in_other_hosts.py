"""Surfaces that other hosts offer: what they, and who listens on the way, hear of a request."""

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


def heard(server):
    """Return what a server was asked, and with which headers."""
    return repr([server.paths, server.headers_seen])


@surfaces(REDIRECTS)
def target(ground, variant):
    """What the target of a redirect hears."""
    with running() as other:
        target = f"{other.base_url}/wallets/details?address={WALLET}&apiKey={quote_plus(KEY)}"
        ground.server.default = (variant, {"Location": target}, b"")
        assert "redirect" in ground.fetch().wallets.error.item()
        assert ground.server.paths
        assert other.paths == []
        return heard(other)


@surface
def plain_proxy(ground):
    """What a proxy for http hears."""
    ground.answer()
    with running() as proxy:
        for name in ("http_proxy", "all_proxy"):
            ground.patch.setenv(name, proxy.base_url)
        ground.patch.setenv("no_proxy", "")
        assert ground.fetch().wallets.status.item() == "ok"
        assert ground.server.paths
        return heard(proxy)


@surface
def headers(ground):
    """The headers of the requests that follow an echo in every header."""
    said = {"Set-Cookie": f"key={quote_plus(KEY)}", "Location": f"/?apiKey={quote_plus(KEY)}"}
    ground.server.say(b"", status=302, **said)
    ground.server.say(answer(wallet()), **said, ETag=f'"{quote_plus(KEY)}"')
    ground.answer()
    with ground.client() as client:
        for _ in range(3):
            client.fetch(WALLET, refresh=True, on_failure="ignore")
    assert len(ground.server.headers_seen) == 3
    return repr(ground.server.headers_seen)


class Tunnel:
    """A proxy that lets one connection through, and writes down what it hears of it."""

    def __init__(self):
        self.heard = bytearray()
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
            while not self.heard.endswith(b"\r\n\r\n"):
                self.heard += near.recv(65536)
            host, _, port = self.heard.split()[1].decode().partition(":")
            with socket.create_connection((host, int(port))) as far:
                near.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                back = Thread(target=self._relay, args=[far, near])
                back.start()
                self._relay(near, far)
                back.join()

    def _relay(self, source, sink):
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                self.heard += piece
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)


@surface
def tunnel(ground):
    """What a proxy for https hears, and who listens to the line behind it."""
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
    return bytes(proxy.heard)


@surface
def socks(ground):
    """What a SOCKS proxy hears, and who listens to the line behind it."""
    context, path = certified(ground.folder, "127.0.0.1")
    ground.patch.setenv("REQUESTS_CA_BUNDLE", path)
    ground.patch.setenv("no_proxy", "")
    with running() as service, SocksProxy(service.server_address[:2]) as proxy:
        ground.patch.setenv("https_proxy", f"socks5h://{proxy.place}")
        service.socket = context.wrap_socket(service.socket, server_side=True)
        service.default = (200, {}, answer(wallet()))
        base_url = service.base_url.replace("http:", "https:")
        assert ground.fetch(base_url=base_url).wallets.status.item() == "ok"
        assert service.paths[0].endswith(f"apiKey={quote_plus(KEY)}")
    assert proxy.wanted
    return bytes(proxy.heard)
