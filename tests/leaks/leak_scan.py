"""The key of these tests, its possible forms, and the search for them.

The key begins and ends with letters that only thorough encodings change. Either end alone counts as
a trace, so that half a key, or one in an unforeseen form, is detected too.
"""

import html
import json
import re
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote, quote_plus, unquote, unquote_plus

ENDS = ("Zx9QmT4v", "Kp7WnR2c")
KEY = ENDS[0] + "/+=&%41 é\"'\\<b>~$" + ENDS[1]


def _percent_encoded(text):
    """Encode every byte, even where none needs it."""
    return "".join(f"%{byte:02x}" for byte in text.encode())


def _lower_hex(text):
    return re.sub("%[0-9A-F]{2}", lambda result: result[0].lower(), text)


def echoes(key):
    """Return the forms in which a service, a proxy or a framework repeats a request."""
    quoted = json.dumps(key)[1:-1]
    return {
        "raw": key,
        "in upper case": key.encode().upper(),
        "in lower case": key.encode().lower(),
        "percent-encoded": quote(key),
        "percent-encoded, slash included": quote(key, safe=""),
        "percent-encoded, plus for space": quote_plus(key),
        "percent-encoded in lower case": _lower_hex(quote_plus(key)),
        "percent-encoded twice": quote(quote_plus(key)),
        "decoded once too often": unquote(key),
        "decoded once too often, as a form": unquote_plus(key),
        "decoded as a form, in JSON": json.dumps(unquote_plus(key))[1:-1],
        "decoded as a form, percent-encoded": quote(unquote_plus(key)),
        "decoded as a form, plus for space": quote_plus(unquote_plus(key)),
        "space for plus": key.replace("+", " "),
        "JSON": quoted,
        "JSON in UTF-8": json.dumps(key, ensure_ascii=False)[1:-1],
        "JSON, slash escaped": quoted.replace("/", "\\/"),
        "JSON for a script": re.sub(
            "[/+=&%'<>]", lambda result: f"\\u{ord(result[0]):04X}", quoted
        ),
        "JSON of what is percent-encoded": json.dumps(quote(key))[1:-1],
        "JSON in JSON": json.dumps(quoted)[1:-1],
        "HTML": html.escape(key),
        "HTML in numbers": html.escape(key).encode("ascii", "xmlcharrefreplace").decode(),
        "UTF-16": key.encode("utf-16"),
    }


ECHOES = echoes(KEY) | {"Latin-1": KEY.encode("latin-1")}
# Forms of the key in a file, a log or a notebook.
FORMS = ECHOES | {
    "repr": repr(KEY),
    "repr of bytes": repr(KEY.encode()),
    "ascii": ascii(KEY),
    "every byte percent-encoded": _percent_encoded(KEY),
    "base64": b64encode(KEY.encode()),
    "base64, one byte later": b64encode(b"u" + KEY.encode()),
    "base64, two bytes later": b64encode(b"me" + KEY.encode()),
    "base64 for URLs": urlsafe_b64encode(KEY.encode()),
    "hex": KEY.encode().hex(),
    "its first half": KEY[: len(KEY) // 2],
    "its second half": KEY[len(KEY) // 2 :],
}


def traces(seen):
    """Return the forms in which the key is in text, bytes, or several of both."""
    if not isinstance(seen, str | bytes):
        return sorted({form for part in seen for form in traces(part)})
    text = seen.decode("latin-1") if isinstance(seen, bytes) else seen
    views = {
        "plainly": text,
        "percent-encoded": unquote_plus(unquote_plus(text)),
        "escaped": re.sub(r"\\(u00|x|u)([0-9a-fA-F]{2})", _character, text),
        "for HTML": html.unescape(text),
        "in wide characters": text.replace("\0", ""),
    }
    result = {
        form for form, view in views.items() if any(end.lower() in view.lower() for end in ENDS)
    }
    if any(needle in text for needle in _BASE64):
        result.add("in base64")
    if any(end.encode().hex() in text.lower() for end in ENDS):
        result.add("in hex")
    return sorted(result)


def _character(result):
    return chr(int(result[2], 16))


def _base64_needles(text):
    """Encode text at each of the three offsets in base64, without the borders."""
    for before in range(3):
        encoded = b64encode(b"\0" * before + text.encode()).decode()
        yield encoded[-(-before * 8 // 6) : (before + len(text)) * 8 // 6]


_BASE64 = [needle for end in ENDS for needle in _base64_needles(end)]
