"""The settings of tables and charts, and their current values in this process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from walletframe.errors import SettingsError
from walletframe.forks import ForkSafeLock
from walletframe.settings.key import safe_repr
from walletframe.settings.sources import Entry
from walletframe.settings.values import read_files_and_environment

SERVICE_PRICES = "service"  # a value of the setting "prices"
_COLOR = re.compile("#[0-9a-fA-F]{6}")
_HINTS = {
    "currency": 'use a non-empty string, such as "USD"',
    "prices": f'use the path of a file or folder, "{SERVICE_PRICES}", or a list of these',
    "colors": 'use a table with an asset and its colour in each line, such as ETH = "#3366CC"',
}


class TableDefaults(NamedTuple):
    """Default arguments of tables and charts. None means that there is no default."""

    currency: str | None = None
    prices: Any = None  # in a form that `walletframe.analysis.value` accepts
    assets: Any = None  # in a form that `walletframe.assets` accepts
    spam_allow: Any = None  # in a form that `walletframe.analysis.flag_spam` accepts
    spam_deny: Any = None  # in the same form as `spam_allow`
    colors: Mapping[str, str] | None = None  # colour by name of an asset


_lock = ForkSafeLock()
_current: TableDefaults | None = None


def table_defaults() -> TableDefaults:
    """Return the current settings. The first call may read the environment and the files."""
    global _current  # noqa: PLW0603 - the only state of the module
    with _lock:
        if _current is None:
            _current = read_table_defaults(None, {})
        return _current


def set_table_defaults(settings: TableDefaults) -> None:
    """Replace the current settings."""
    global _current  # noqa: PLW0603 - the only state of the module
    with _lock:
        _current = settings


def read_table_defaults(file: str | Path | None, arguments: Mapping[str, Any]) -> TableDefaults:
    """Merge the settings of files, the environment and arguments, in ascending precedence."""
    passed = {k: Entry(k, v) for k, v in arguments.items() if v is not None}
    entries = read_files_and_environment(file) | passed
    names = [name for name in TableDefaults._fields if name in entries]
    return TableDefaults(**{name: _parse_table_setting(name, entries[name]) for name in names})


def _parse_table_setting(name: str, entry: Entry) -> Any:
    value, is_text = entry.value, isinstance(entry.value, str) and entry.value.strip()
    is_flat_list = isinstance(value, list) and not any(isinstance(each, list) for each in value)
    fault = safe_repr(value)
    if name == "colors":
        if isinstance(value, Mapping):
            is_color = {k: isinstance(v, str) and _COLOR.fullmatch(v) for k, v in value.items()}
            wrong = [key for key, valid in is_color.items() if not valid]
            if not wrong:
                return value
            fault = f"{safe_repr(wrong[0])} has the colour {safe_repr(value[wrong[0]])}"
    elif is_text:
        is_path = name != "currency" and (name, value) != ("prices", SERVICE_PRICES)
        return _resolve_path(entry) if is_path and entry.file else value
    elif name == "prices" and value and is_flat_list:
        return [_parse_table_setting(name, entry._replace(value=each)) for each in value]
    elif entry.file is None and name != "currency" and not isinstance(value, str):
        return value  # the function that uses the value checks the type
    hint = _HINTS.get(name, "use the path of a file")
    raise SettingsError(f"{entry.source} is not valid: {fault}", hint=hint)


def _resolve_path(entry: Entry) -> Path:
    path, folder = Path(entry.value), (entry.file or Path()).parent
    is_named_outside = path.anchor or ".." in path.parts or entry.value.startswith("~")
    # A cloned folder may contain a symbolic link to a file of the user.
    is_inside = (folder / path).resolve().is_relative_to(folder.resolve())
    if not entry.is_trusted and (is_named_outside or not is_inside):
        hint = "use a path inside this folder, relative to the file"
        raise SettingsError(f"{entry.source} is a path outside the folder of this file", hint)
    return folder / path.expanduser()
