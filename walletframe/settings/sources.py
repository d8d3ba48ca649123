"""The sources of settings: the files ``walletframe.toml``, and environment variables.

A file in the working folder may be part of a cloned repository, written by another person. Such a
file must not redirect the API key. So it may contain only settings of tables and charts.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from platformdirs import user_config_path

from walletframe.errors import SettingsError
from walletframe.settings.key import RPC_URL_VARIABLE, ApiKey, contains_key, safe_repr
from walletframe.text import one_line
from walletframe.tracebacks import strip_tracebacks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

PREFIX = "WALLETFRAME_"
FILE_VARIABLE = "WALLETFRAME_FILE"
FILE_NAME = "walletframe.toml"
# The settings that a file in the working folder may contain.
TABLE_SETTINGS = ("currency", "prices", "assets", "spam_allow", "spam_deny", "colors")
_is_accessible_file = os.path.isfile  # Path.is_file raises without access to the folder


class Entry(NamedTuple):
    """The value of a setting, and the source of the value."""

    source: str  # text for messages: the names of the setting and of the source
    value: Any
    file: Path | None = None  # None for arguments and environment variables
    is_trusted: bool = True  # False for a file in the working folder


def user_settings_file() -> Path:
    """Return the path of the settings file in the user's configuration folder."""
    return user_config_path("walletframe") / FILE_NAME


@strip_tracebacks
def read_sources(file: str | Path | None, service_settings: Collection[str]) -> dict[str, Entry]:
    """Read settings from the files and the environment. The environment takes precedence."""
    known = [*service_settings, *TABLE_SETTINGS]
    variables = {
        variable.removeprefix(PREFIX): text
        for variable, text in os.environ.items()
        if variable.startswith(PREFIX) and variable not in (RPC_URL_VARIABLE, FILE_VARIABLE)
    }
    require_known_settings([name.lower() for name in variables], known, prefix=PREFIX)
    environment = {k.lower(): Entry(PREFIX + k, text) for k, text in variables.items() if text}
    key = ApiKey(environment["api_key"].value.strip()) if "api_key" in environment else None
    entries: dict[str, Entry] = {}
    for path, is_trusted in _settings_files_and_trust(file):
        content, shown_path = _read_toml(path), _path_text(path)
        names = {name.lower().replace("_", "").replace("-", "") for name in content}
        if names & {"apikey", "key"} or contains_key(str(content), key):
            hint = f"remove the key, and set the environment variable {PREFIX}API_KEY instead"
            raise SettingsError(f"{shown_path} contains an API key", hint)
        without_key = [name for name in known if name != "api_key"]
        require_known_settings(content, without_key, suffix=f" in {shown_path}")
        for name, value in content.items():
            if not is_trusted and name not in TABLE_SETTINGS:
                raise SettingsError(
                    f"the setting {name} is not allowed in {shown_path}: a file in the working "
                    "folder may only contain settings of tables and charts, for security",
                    hint=f"move {name} to {_path_text(user_settings_file())}, or pass a settings "
                    f"file in configure(file=…) or in the variable {FILE_VARIABLE}",
                )
            entries[name] = Entry(f"{name} in {shown_path}", value, path, is_trusted)
    return entries | environment


def require_known_settings(
    names: Iterable[str], known: Collection[str], *, prefix: str = "", suffix: str = ""
) -> None:
    """Raise an error for the first unknown name. `suffix` is the end of the message."""
    for name in names:
        if name not in known:
            from difflib import get_close_matches  # noqa: PLC0415 - slow to load, only for errors

            close = get_close_matches(name, known, n=1, cutoff=0.5)
            full_name = f"{prefix}{name.upper()}" if prefix else name
            usable = [f"{prefix}{each.upper()}" if prefix else each for each in close or known]
            hint = f"did you mean {usable[0]}?" if close else f"use one of {', '.join(usable)}"
            # A name with digits or other characters may be a key.
            is_word = name.replace("_", "").isalpha()
            description = repr(full_name) if is_word else f"with this name: {safe_repr(name)}"
            raise SettingsError(f"there is no setting {description}{suffix}", hint=hint)


def _settings_files_and_trust(file: str | Path | None) -> list[tuple[Path, bool]]:
    """Return pairs (settings file, whether it is trusted) in ascending precedence."""
    if file is not None:
        return [(_require_toml_path("file", file), True)]
    if variable := os.environ.get(FILE_VARIABLE):
        path = _require_toml_path(FILE_VARIABLE, variable)
        if not path.is_absolute():  # otherwise any working folder could contain this file
            hint = "use the absolute path of a settings file"
            raise SettingsError(f"{FILE_VARIABLE} is not an absolute path", hint)
        return [(path, True)]
    trusted, local = user_settings_file(), Path(FILE_NAME)
    is_usable = trusted.is_absolute() and _is_accessible_file(trusted)  # relative without a home
    files = [(trusted, True)] if is_usable else []
    if _is_accessible_file(local) and local.absolute() != trusted:
        files.append((local.absolute(), False))
    return files


def _require_toml_path(source: str, value: Any) -> Path:
    path = Path(value).expanduser() if isinstance(value, str | Path) else Path()
    if path.suffix.lower() != ".toml":
        hint = f"use a path such as ~/{FILE_NAME}"
        raise SettingsError(f"{source} is not the path of a .toml file", hint)
    return path


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - slow to load, and most users have no settings file

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        fault = error.strerror or "unknown error"
    except tomllib.TOMLDecodeError as error:  # its text may quote the key
        fault = f"it is not valid TOML ({str(error).rpartition('(')[2]}"
    except (UnicodeDecodeError, RecursionError):
        fault = "it is not valid TOML"
    raise SettingsError(f"{_path_text(path)} can't be read: {fault}", "correct the settings file")


def _path_text(path: Path) -> str:
    return one_line(str(path), 500)
