"""Surfaces that threads, loops and hooks offer: reports of them, and their frames."""

import asyncio
import contextlib
import faulthandler
import logging
import sys
import threading
import time
import traceback
import zlib
from io import StringIO

from fault_server import FAULTS, Fault, FaultServer, reply_of
from leak_ground import WALLET, frame_locals, full_listener, texts_of
from leak_scan import KEY
from leak_surfaces import surface, surfaces

TIMEOUT_S = 60  # it is aborted before
STILL = 5
ECHO = KEY.encode() * 9_000


@surface
def in_a_thread(ground):
    """The report of threading.excepthook for a fetch in a thread."""
    ground.echo()
    reported = []
    ground.patch.setattr(
        threading, "excepthook", lambda seen: reported.extend(texts_of(seen.exc_value))
    )
    with ground.client() as client:
        how = {"on_failure": "raise"}
        thread = threading.Thread(target=client.fetch, args=[WALLET], kwargs=how)
        thread.start()
        thread.join()
    return reported


@surface
def in_a_finalizer(ground):
    """The report of sys.unraisablehook for a fetch in a finalizer."""

    class Late:
        def __del__(self):
            client.fetch(WALLET, on_failure="raise")

    ground.echo()
    reported = []
    ground.patch.setattr(
        sys, "unraisablehook", lambda seen: reported.extend(texts_of(seen.exc_value))
    )
    with ground.client() as client:
        Late()
    return reported


@surface
def in_an_event_loop(ground):
    """The log of asyncio, in its debug mode, of a fetch that is never awaited."""
    output = StringIO()
    handler = logging.StreamHandler(output)
    logging.getLogger("asyncio").addHandler(handler)
    ground.echo()

    async def forget(client):
        work = asyncio.to_thread(client.fetch, WALLET, on_failure="raise")
        await asyncio.wait([asyncio.ensure_future(work)])

    with ground.client() as client:
        asyncio.run(forget(client), debug=True)
    logging.getLogger("asyncio").removeHandler(handler)
    return output.getvalue()


def _chunk(body):
    return b"%x\r\n%s\r\n" % (len(body), body)


def _packed(body):
    """Compress a body so that all of it is read while more is expected."""
    packer = zlib.compressobj(wbits=31)
    return packer.compress(body) + packer.flush(zlib.Z_SYNC_FLUSH)


@contextlib.contextmanager
def _under_way(ground, base_url, doing):
    """Start a fetch that gets no answer, and yield the stacks of its threads."""
    how = {"on_failure": "ignore"}
    with ground.client(base_url=base_url, timeout_s=TIMEOUT_S) as client:
        asking = threading.Thread(target=client.fetch, args=[WALLET], kwargs=how)
        asking.start()
        before = []
        while before.count(_stacks()) < STILL or doing not in "".join(_stacks()):
            assert asking.is_alive()
            before = [*before[1 - STILL :], _stacks()]
            time.sleep(0.01)
        yield [*_stacks(), *_locals()]
        client._session.in_flight.abort_attempts({thread.ident for thread in threading.enumerate()})
        asking.join()


def _frames():
    """Return the innermost frames of the fetching threads."""
    own = {each.ident for each in threading.enumerate() if each.name.startswith("walletframe_")}
    return [frame for ident, frame in sys._current_frames().items() if ident in own]


def _stacks():
    return [line for frame in _frames() for line in traceback.format_stack(frame)]


def _locals():
    return [text for frame in _frames() for text in frame_locals(traceback.walk_stack(frame))]


@surface
def frames_while_waiting(ground):
    """The frames of the threads that wait for an answer, with their locals."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(FaultServer(FAULTS["silence"], WALLET))
        return stack.enter_context(_under_way(ground, server.base_url, "in getresponse"))


@surface
def frames_while_connecting(ground):
    """The frames of the threads that connect, with their locals."""
    with full_listener() as base_url, _under_way(ground, base_url, "in open_socket") as seen:
        return seen


STALLED = {
    "in its middle": reply_of("200 OK", ECHO, length=10**6),
    "after a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s" % _chunk(ECHO),
    "without a length": b"HTTP/1.1 200 OK\r\n\r\n" + ECHO,
    "in gzip": reply_of("200 OK", _packed(ECHO), "Content-Encoding: gzip", length=10**6),
}


@surfaces(STALLED)
def frames_while_reading(ground, variant):
    """The frames of the threads that wait for more of an echo that stalls."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(FaultServer(Fault(STALLED[variant], ""), WALLET))
        return stack.enter_context(_under_way(ground, server.base_url, "in generate"))


@surface
def fault_handler(ground):
    """The report of faulthandler about all threads."""
    path = ground.folder / "fault"
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(FaultServer(FAULTS["silence"], WALLET))
        stack.enter_context(_under_way(ground, server.base_url, "in getresponse"))
        file = stack.enter_context(path.open("w"))
        faulthandler.dump_traceback(file)
    return path.read_text()
