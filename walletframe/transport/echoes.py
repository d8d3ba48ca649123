"""Echoes of the key: a server, a proxy or a framework may repeat parts of a request.

Knows the forms in which text is written into addresses, JSON and HTML. Forms that nobody makes by
accident (the key backwards, in base64) are not looked for.
"""

from __future__ import annotations

import re
from html.entities import codepoint2name
from typing import TYPE_CHECKING

from walletframe.wire import KEY_PARAMETER

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe.settings import Secret

_ANYWHERE_FROM = 8
_LATIN_1 = 256
_ENTITIES = codepoint2name | {ord("'"): "apos"}
_PLAIN = re.compile(rb"[0-9A-Za-z_.-]+")
_BEHIND_NAME = "|".join(f"(?<={KEY_PARAMETER}{sign})" for sign in ("=", "%3D")).encode()


def scrubber(*secrets: Secret) -> Callable[[bytes], bytes]:
    """Return a function that puts as many asterisks into bytes where they echo a secret.

    It is found plain, percent-encoded or escaped for JSON or HTML, once or twice, in either case;
    one of fewer than 8 characters, which could be any word, only behind the key's parameter.
    """
    echoes = [_echo(secret.reveal()) for secret in secrets]

    def scrubbed(said: bytes) -> bytes:
        folded = said.lower()
        for rare, echo in echoes:
            if rare in folded or b"\0" in said:  # what no form changes, but a wide one
                said = echo.sub(lambda found: b"*" * len(found[0]), said)
        return said

    return scrubbed


def _echo(key: str) -> tuple[bytes, re.Pattern[bytes]]:
    """Return the longest piece of a key that most forms leave alone, and a pattern for all."""
    rare = max(_PLAIN.findall(key.encode()), key=len, default=b"").lower()
    return rare, re.compile(_pattern(key), re.IGNORECASE)


def _pattern(key: str) -> bytes:
    """Return a regular expression for the key; wide characters have zero bytes between."""
    forms = rb"\x00{0,3}".join(_forms(char) for char in key)
    return forms if len(key) >= _ANYWHERE_FROM else b"(?:%s)%s" % (_BEHIND_NAME, forms)


def _forms(char: str) -> bytes:
    if char.isascii() and char.isalnum():
        return char.encode()
    code, units = ord(char), char.encode("utf-16-be").hex()
    percent = "".join(rf"(?:%(?:25){{0,2}}|\\{{1,4}}x){byte:02x}" for byte in char.encode())
    escaped = "".join(rf"\\{{1,4}}u{units[at : at + 4]}" for at in range(0, len(units), 4))
    entity = f"&(?:amp;){{0,2}}(?:#0*{code}|#x0*{code:x}|{_ENTITIES.get(code, '#')});"
    wide = ["latin-1"] if code < _LATIN_1 else ["utf-16-be", "utf-16-le"]
    plain = [re.escape(char.encode(encoding)) for encoding in ("utf-8", *wide)]
    plain += [rb"\+", rb"%(?:25){0,2}2b"] if char == " " else []
    return rb"(?:%s|%s|%s|\\{0,3}(?:%s))" % (
        percent.encode(),
        escaped.encode(),
        entity.encode(),
        b"|".join(plain),
    )
