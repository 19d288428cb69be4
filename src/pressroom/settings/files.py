"""Reads the settings of the environment and of files (docs/operations.md#configuration)."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import Path
from typing import Final, cast

from dotenv import dotenv_values

from pressroom.errors import SettingError
from pressroom.settings import ENVIRONMENT, PREFIX, Settings, all_settings
from pressroom.text import find_nearest

CONFIG: Final = f"{PREFIX}CONFIG"
"""Names the one file that is read; the option --config sets it."""

NAME: Final = "pressroom.toml"
LINES: Final = ".env"

SYSTEM: Final = Path("/etc/pressroom") / NAME
"""The file that is read when the working folder has no settings."""

PASSED: Final = ("AWS_", "OTEL_", "SSL_CERT_")
"""Beginnings of variables that libraries read; a file may give them as well."""

_DATA_DIR: Final = Settings.data_dir.variable
_DATABASE_URL: Final = Settings.database_url.variable


def read_settings(environment: Mapping[str, str], folder: Path, system: Path = SYSTEM) -> Settings:
    """Returns the settings of the environment, then of the first place that has any.

    The places are the file that PRESSROOM_CONFIG names, else the working folder, else `system`.

    Args:
        environment: The variables of the process.
        folder: The working folder, with `.env` or `pressroom.toml`; of a setting in both, `.env` counts.
        system: The file of the whole machine.

    Raises:
        SettingError: A file cannot be read, a name is not a setting's, or a value is invalid.
    """
    _check_names(ENVIRONMENT, environment, [CONFIG])
    if named := environment.get(CONFIG, "").strip():
        found = _read([Path(named)])
        if not found:
            raise SettingError(f"{named}, which --config or {CONFIG} names, does not exist.")
    else:
        found = _in_folder(folder) or _read([system])
    variables, sources = dict[str, str](), dict[str, Path]()
    for file, given in reversed(found.items()):
        variables |= given
        sources |= dict.fromkeys(given, file)
    # A variable that is set to nothing is not given.
    ours = {name: text for name, text in environment.items() if name.startswith((PREFIX, *PASSED)) and text.strip()}
    sources = {name: file for name, file in sources.items() if name not in ours}
    return Settings({**variables, **ours}, tuple(found), sources)


def _in_folder(folder: Path) -> dict[Path, dict[str, str]]:
    """Returns the variables of the files in the working folder; a `.env` without one of ours is another program's."""
    # After sudo it may be a home folder that this user may not enter: it holds no settings for them.
    if not os.access(folder, os.X_OK):
        return {}
    found = _read([folder / LINES, folder / NAME])
    if not any(name.startswith(PREFIX) for name in found.get(folder / LINES, {})):
        found.pop(folder / LINES, None)
    return found


def _read(files: Iterable[Path]) -> dict[Path, dict[str, str]]:
    """Returns the variables of each file that exists. Raises SettingError."""
    found: dict[Path, dict[str, str]] = {}
    for file in files:
        try:
            text = file.read_text("utf-8")
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise SettingError(f"{file} cannot be read: {error.strerror}. Run commands as the server's user.") from None
        except UnicodeError:
            raise SettingError(f"{file} cannot be read as UTF-8 text.") from None
        found[file] = _lines(file, text) if file.name.endswith(LINES) else _document(file, text)
    return found


def _lines(file: Path, text: str) -> dict[str, str]:
    """Returns the variables of lines NAME=VALUE that are ours or a library's."""
    given = {name: value or "" for name, value in dotenv_values(stream=StringIO(text), interpolate=False).items()}
    _check_names(str(file), given)
    return {name: value for name, value in given.items() if name.startswith((PREFIX, *PASSED))}


def _document(file: Path, text: str) -> dict[str, str]:
    """Returns the variables of a TOML document: settings by their names in lower case, without the prefix."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{file} is not TOML: {error}.") from None
    _check_keys(file, document)
    given = {_variable(key): _text(file, key, value) for key, value in document.items()}
    return {name: _from_folder(name, value, file.parent.absolute()) for name, value in given.items()}


def _variable(key: str) -> str:
    return key if key.startswith((PREFIX, *PASSED)) else PREFIX + key.upper()


def _text(file: Path, key: str, value: object) -> str:
    """Returns a value of TOML as it would be written in a variable."""
    match value:
        case bool():
            return str(int(value))
        case str() | int() | float():
            return str(value)
        case list():
            return ",".join(_text(file, key, each) for each in cast("list[object]", value))
        case _:
            raise SettingError(f"{key} in {file} is neither text, a number, true or false, nor a list of these.")


def _from_folder(name: str, value: str, folder: Path) -> str:
    """Returns a value whose relative path counts from the file's folder, wherever the command is typed."""
    if name == _DATA_DIR and value.strip():
        return str(folder / value.strip())
    scheme, separator, path = value.strip().partition(":///")
    if name == _DATABASE_URL and scheme == "sqlite" and path:
        return f"{scheme}{separator}{folder / path}"
    return value


def _check_names(source: str, names: Iterable[str], more: Iterable[str] = ()) -> None:
    """Raises SettingError for variables of ours that are no settings, each with the nearest one."""
    known = [setting.variable for setting in all_settings()] + list(more)
    unknown = [name for name in sorted(names) if name.startswith(PREFIX) and name not in known]
    # Compared without the prefix, which would make any two names alike.
    bare = [name.removeprefix(PREFIX) for name in known]
    _refuse(source, {name: _nearest(name.removeprefix(PREFIX), bare, PREFIX) for name in unknown})


def _check_keys(file: Path, keys: Iterable[str]) -> None:
    """Raises SettingError for keys of a document that are no settings, each with the nearest one."""
    known = [setting.name for setting in all_settings()]
    unknown = [key for key in keys if not key.startswith(PASSED) and key.removeprefix(PREFIX).lower() not in known]
    _refuse(str(file), {key: _nearest(key.removeprefix(PREFIX), known) for key in unknown})


def _nearest(name: str, known: Iterable[str], prefix: str = "") -> str:
    nearest = find_nearest(name, known)
    return f": did you mean {prefix}{nearest}?" if nearest else "; `pressroom config` lists all."


def _refuse(source: str, unknown: Mapping[str, str]) -> None:
    if unknown:
        where = f"the {source}" if source == ENVIRONMENT else source
        raise SettingError(
            " ".join(f"{name} in {where} is no setting of this version{hint}" for name, hint in unknown.items())
        )
