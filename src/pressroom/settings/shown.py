"""Every setting as an admin may read it: without what could be a secret."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pressroom.settings import DEFAULT, Settings, all_settings
from pressroom.settings.files import PASSED

HIDDEN: Final = "…"
"""Stands for a hidden secret."""

_ADDRESS: Final = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+]*)://(?P<user>[^/?#@]*@)?(?P<place>(?:[A-Za-z0-9._,:-]|\[[0-9a-fA-F:.]+\])*"
    r"(?:/[A-Za-z0-9._/ -]*)?)(?P<query>\?[^@]*)?"
)


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """A setting as an admin may read it; `source` is `default`, `environment` or the path of a file."""

    name: str
    value: str
    source: str
    help: str

    @property
    def is_given(self) -> bool:
        """Returns whether the value is not the default."""
        return self.source != DEFAULT


def shown_settings(settings: Settings) -> Iterator[ShownSetting]:
    """Yields every setting, in the order of their documentation."""
    for setting in all_settings():
        yield ShownSetting(setting.variable, masked(settings.raw(setting)), settings.source(setting), setting.help)


def shown_variables(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yields the variables that libraries read, which may be secrets, each with where it is from."""
    for name in sorted(settings.variables):
        if name.startswith(PASSED):
            yield name, settings.origin(name)


def masked(value: str) -> str:
    """Returns the text of a setting without what could be a secret: of an address, who signs in and the query.

    An address that cannot be taken apart without doubt is hidden but for its scheme.
    """
    if "://" not in value:
        return value
    parts = _ADDRESS.fullmatch(value)
    if parts is None:
        return f"{value.partition('://')[0]}://{HIDDEN}"
    user, query = f"{HIDDEN}@" if parts["user"] else "", f"?{HIDDEN}" if parts["query"] else ""
    return f"{parts['scheme']}://{user}{parts['place']}{query}"
