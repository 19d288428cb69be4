"""Every setting: its name, default and one line of help, from which docs/settings.md is generated.

Settings are environment variables `PRESSROOM_…`, or lines of a `.env` file in the working folder; the
environment wins. An invalid value raises SettingError with one line that says which and why.
"""

import difflib
import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, Generic, TypeVar, overload
from urllib.parse import parse_qsl, urlsplit

from dotenv import dotenv_values

from pressroom.errors import SettingError
from pressroom.mail_server import read_mail_server, read_mailbox
from pressroom.redis_address import parse_redis

RESTORING = ".restoring"
"""A file in the data folder while a backup is being restored: as long as it exists, nothing may be served."""

PREFIX: Final = "PRESSROOM_"

RETRIES: Final = 4
"""Attempts to deliver a webhook after the first one."""

Networks = tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]
T = TypeVar("T")


class Setting(Generic[T]):
    """One setting, declared as an attribute of Settings and read there as its value.

    Args:
        read: Returns the value of a text; raises ValueError with the end of a sentence ("is not a number").
        default: Text as a person would write it, or a function of the other settings.
        help_: One sentence for docs/settings.md.
        shown: The default as the documentation shows it.
        secret: Whether an error message must not repeat the value.
    """

    def __init__(
        self,
        read: Callable[[str], T],
        default: "str | Callable[[Settings], str]",
        help_: str,
        shown: str = "",
        *,
        secret: bool = False,
    ) -> None:
        self.read = read
        self.default = default
        self.help = help_
        self.shown = shown or (default if isinstance(default, str) else "")
        self.secret = secret
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def variable(self) -> str:
        """Returns the name of the environment variable."""
        return PREFIX + self.name.upper()

    @overload
    def __get__(self, instance: None, owner: type) -> "Setting[T]": ...
    @overload
    def __get__(self, instance: "Settings", owner: type) -> T: ...
    def __get__(self, instance: "Settings | None", owner: type) -> "Setting[T] | T":
        return self if instance is None else instance.value(self)


def _text(value: str) -> str:
    return value


def _flag(value: str) -> bool:
    if value.lower() in ("1", "true", "yes", "on"):
        return True
    if value.lower() in ("", "0", "false", "no", "off"):
        return False
    raise ValueError("is neither 1 nor 0")


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        if not (value.isascii() and value.isdigit() and least <= int(value) <= most):
            raise ValueError(f"is not a whole number from {least:,} to {most:,}")
        return int(value)

    return read


_HOST: Final = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?")
_PLAIN: Final = re.compile(r"[!#-;=?-\[\]_a-z~]+")
"""Characters that an address may have: printable ASCII without those that mean something to browsers or HTML."""


def _web_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("is not an http:// or https:// address")
    if parts.username is not None:
        raise ValueError("must not hold a password")
    if not _HOST.fullmatch(parts.netloc) or not _PLAIN.fullmatch(value):
        raise ValueError("is not written as browsers send it: ASCII without spaces, a host name as xn--…")
    _ = parts.port  # Raises ValueError when it is no port number.
    return value.rstrip("/")


def _mail_domain(base_url: str) -> str:
    """Returns the host of the base address if it is a name, and localhost for an IP address."""
    host = urlsplit(base_url).hostname or ""
    return host if re.fullmatch(r"[a-z0-9.-]*[a-z][a-z0-9.-]*", host) else "localhost"


def _base_address(value: str) -> str:
    address = _web_address(value)
    if urlsplit(address).path:
        raise ValueError("has a path; pages and the API are served at the root of a host, so give them a host name")
    return address


def _database(value: str) -> str:
    if not value.startswith(("sqlite:///", "postgresql://", "postgres://")):
        raise ValueError("is neither sqlite:///FILE nor postgresql://…")
    return value


_BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,62}")
_BLOBS_PREFIX: Final = re.compile(r"(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/?")


def _blobs(value: str) -> str:
    if value.startswith("file:///") and value.strip("/") != "file:":
        return value
    if not value.startswith("s3://"):
        raise ValueError("is neither file:///FOLDER nor s3://BUCKET/PREFIX")
    try:
        parts = urlsplit(value)
    except ValueError:
        raise ValueError("is not s3://BUCKET/PREFIX") from None  # The message of urlsplit may quote a password.
    if not _BUCKET.fullmatch(parts.netloc) or not _BLOBS_PREFIX.fullmatch(parts.path) or parts.fragment:
        raise ValueError("is not s3://BUCKET/PREFIX; credentials belong into AWS_ACCESS_KEY_ID and others")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not options.keys() <= {"endpoint", "region"}:
        raise ValueError("may end in ?endpoint=…&region=… alone; credentials belong into AWS_ACCESS_KEY_ID and others")
    if "endpoint" in options:
        try:
            _ = urlsplit(_web_address(options["endpoint"])).port
        except ValueError:
            raise ValueError(
                "has an endpoint that is not http://HOST:PORT or https://HOST without a password"
            ) from None
    if "region" in options and not re.fullmatch("[a-z0-9-]+", options["region"]):
        raise ValueError("has a region that is none, such as eu-central-1")
    return value


def _redis(value: str) -> str | None:
    if value:
        parse_redis(value)
    return value or None


def _networks(value: str) -> Networks:
    try:
        return tuple(ipaddress.ip_network(part) for part in value.replace(",", " ").split())
    except ValueError as error:
        raise ValueError(f"is not a list of networks such as 10.0.0.0/8 ({error})") from None


def _waits(value: str) -> tuple[float, ...]:
    try:
        waits = tuple(float(part) for part in value.split(","))
    except ValueError:
        waits = ()
    if len(waits) != RETRIES or not all(0 <= wait <= 86_400 for wait in waits):
        raise ValueError(f"is not {RETRIES} numbers of seconds such as 60,120,240,480")
    return waits


class WhenAway(StrEnum):
    """What becomes of requests that are limited while the limits cannot be counted together."""

    REFUSE = "refuse"
    LOCAL = "local"


def _when_away(value: str) -> WhenAway:
    if value not in {each.value for each in WhenAway}:
        raise ValueError("is neither refuse nor local")
    return WhenAway(value)


class Signup(StrEnum):
    """Who may sign up."""

    OPEN = "open"
    INVITE = "invite"
    CLOSED = "closed"


def _signup(value: str) -> Signup:
    if value not in {each.value for each in Signup}:
        raise ValueError("is neither open nor invite nor closed")
    return Signup(value)


def _confinement(value: str) -> bool:
    if value not in ("full", "available"):
        raise ValueError("is neither full nor available")
    return value == "full"


class Settings:
    """The settings of one process, read once from `variables`, by their full names. Raises SettingError."""

    host = Setting(_text, "127.0.0.1", "Address to listen on.")
    port = Setting(_whole(1, 65_535), "8000", "Port to listen on.")
    data_dir = Setting(
        lambda value: Path(value).absolute(),
        "./data",
        "Folder of the SQLite file and everything else on disk.",
    )
    dev = Setting(
        _flag,
        "0",
        "1: development mode, at a loopback or private base address only. Makes a first account and key on an empty "
        "database and prints them, opens sign-up, and lets webhooks reach private networks by http.",
    )
    base_url = Setting(
        _base_address,
        lambda its: f"http://{f'[{its.host}]' if ':' in its.host else its.host}:{its.port}",
        "Address under which clients reach this server; https here makes cookies Secure.",
        "http://HOST:PORT",
    )
    permalink_base = Setting(
        _web_address, lambda its: its.base_url, "What permalinks start with: …/post/{id}.", "the base address"
    )
    database_url = Setting(
        _database,
        lambda its: f"sqlite:///{its.data_dir / 'pressroom.db'}",
        "sqlite:///FILE or postgresql://USER@HOST/NAME.",
        "sqlite:///DATA_DIR/pressroom.db",
    )
    blobs_url = Setting(
        _blobs,
        lambda its: f"file://{its.data_dir / 'blobs'}",
        "Where media are stored: file:///FOLDER, or s3://BUCKET/PREFIX?endpoint=https://HOST&region=NAME with the "
        "credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
        "file://DATA_DIR/blobs",
        secret=True,
    )
    media_confinement = Setting(
        _confinement,
        "available",
        "How processes that decode media are confined: full refuses to start without Landlock and seccomp; available "
        "uses what the machine has, and logs what it lacks.",
    )
    redis_url = Setting(
        _redis,
        "",
        "redis://HOST:PORT/N, redis+sentinel://HOST:PORT,…/NAME/N or redis+cluster://HOST:PORT,…: shares rate limits "
        "between processes.",
        "unset",
    )
    redis_timeout_ms = Setting(
        _whole(10, 60_000), "250", "Milliseconds that a call to Redis may take before Redis counts as away."
    )
    limits_when_away = Setting(
        _when_away,
        "refuse",
        "refuse: with Redis away, requests with a key are 503. local: each process counts for itself until it is back.",
    )
    requests_per_minute = Setting(_whole(1, 1_000_000), "60", "Requests per key in any 60 seconds.")
    requests_per_day = Setting(_whole(1, 1_000_000_000), "10000", "Requests per key in any 24 hours.")
    posts_per_minute = Setting(_whole(1, 1_000_000), "10", "POST /api/posts per key in any 60 seconds.")
    daily_content_quota = Setting(
        _whole(0, 1_000_000_000), "1000", "Posts, clips and bounces by key per account and UTC day."
    )
    session_writes_per_minute = Setting(
        _whole(1, 1_000_000), "60", "Writes of an account that is signed in, over all its sessions, in any 60 seconds."
    )
    session_content_per_day = Setting(
        _whole(0, 1_000_000_000), "2000", "Posts, clips and bounces of an account that is signed in per UTC day."
    )
    account_storage_bytes = Setting(
        _whole(0, 2**60), str(5 * 2**30), "Bytes of media that an account may store, by key and signed in together."
    )
    abuse_refusals = Setting(
        _whole(1, 1_000_000), "600", "Rate-limit refusals within the abuse window that revoke a key."
    )
    abuse_window_seconds = Setting(_whole(1, 86_400), "600", "Length of the abuse window, in seconds.")
    signup = Setting(
        _signup,
        lambda its: "open" if its.dev else "closed",
        "Who may sign up: open, invite (with a link that an admin makes) or closed. `pressroom account create` makes "
        "accounts in any case.",
        "closed; in development mode open",
    )
    signups_per_hour = Setting(
        _whole(1, 10_000), "5", "Sign-ups per client address in any hour, tried ones too; of IPv6 per /64."
    )
    smtp_url = Setting(
        read_mail_server,
        "",
        "Where mail is handed in: smtp://USER:PASSWORD@HOST:587 (STARTTLS is demanded), smtps://… or, for a relay on "
        "the same machine, smtp://localhost:25?tls=off. Unset, none is sent; development mode shows it at /dev/mail.",
        "unset",
        secret=True,
    )
    mail_from = Setting(
        read_mailbox,
        lambda its: f"Pressroom <pressroom@{_mail_domain(its.base_url)}>",
        "Sender of mail: name@example.org or Name <name@example.org>.",
        "Pressroom <pressroom@HOST of the base address>",
    )
    resets_per_hour = Setting(
        _whole(1, 10_000), "20", "Requests for a new password per client address in any hour; of IPv6 per /64."
    )
    trusted_proxies = Setting(_networks, "", "Networks of reverse proxies whose X-Forwarded-For is trusted.", "empty")
    sign_in_failures_per_account = Setting(
        _whole(1, 10_000), "10", "Failed sign-ins per account in 15 minutes before more are refused."
    )
    sign_in_failures_per_address = Setting(
        _whole(1, 100_000), "100", "Failed sign-ins per client address in 15 minutes before more are refused."
    )
    outbound_allow = Setting(
        _networks, "", "Networks that webhooks and previews may reach although they are private.", "empty"
    )
    outbound_allow_force = Setting(
        _flag, "0", "1: PRESSROOM_OUTBOUND_ALLOW applies also on a server with a public base address."
    )
    webhook_retry_waits = Setting(
        _waits, "60,120,240,480", "Seconds between the five attempts to deliver a webhook; each varies by a tenth."
    )
    body_timeout_seconds = Setting(_whole(1, 600), "10", "Time for a JSON body to arrive, in seconds.")
    upload_timeout_seconds = Setting(_whole(1, 3_000), "300", "Time for an upload to arrive, in seconds.")
    reader_timeout_seconds = Setting(
        _whole(1, 600), "30", "Time after which a connection whose client reads nothing is closed, in seconds."
    )
    answers_bytes = Setting(
        _whole(1_048_576, 2**40),
        str(256 * 1024 * 1024),
        "Memory for large responses being sent, in bytes; one address gets an eighth of it. Beyond it they are 503.",
    )
    access_log = Setting(_flag, "1", "1: a line of JSON for each request on standard error.")

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = dict(variables)
        self._values: dict[str, object] = {}
        for setting in all_settings():
            self.value(setting)

    def value(self, setting: Setting[T]) -> T:
        """Returns the value of one setting. Raises SettingError."""
        if setting.name not in self._values:
            raw = self.raw(setting)
            try:
                self._values[setting.name] = setting.read(raw)
            except ValueError as error:
                # An address may contain a password, so the message leaves it out.
                shown = "" if setting.secret or "@" in raw else f": {raw!r}"
                raise SettingError(f"{setting.variable} {error}{shown}") from None
        return self._values[setting.name]  # type: ignore[return-value]  # filled by this setting's own `read`

    def raw(self, setting: Setting[T]) -> str:
        """Returns the text of a setting: what is given, or the default."""
        default = setting.default if isinstance(setting.default, str) else setting.default(self)
        return self._variables.get(setting.variable, "").strip() or default

    def is_given(self, setting: Setting[T]) -> bool:
        """Returns whether the environment or the file gives the setting: otherwise it has its default."""
        return bool(self._variables.get(setting.variable, "").strip())

    def unknown(self) -> Iterator[str]:
        """Yields a sentence for each PRESSROOM_ variable that is not a setting of this version."""
        names = [setting.variable for setting in all_settings()]
        for variable in sorted(self._variables):
            if variable.startswith(PREFIX) and variable not in names:
                close = difflib.get_close_matches(variable, names, 1)
                yield f"{variable} is no setting of this version" + (f"; {close[0]} is." if close else ".")


def all_settings() -> list[Setting[object]]:
    """Returns all settings in the order of their documentation."""
    return [value for value in vars(Settings).values() if isinstance(value, Setting)]


def read_settings(environment: Mapping[str, str], folder: Path) -> Settings:
    """Returns the settings of `environment`, then of a `.env` file in `folder`. Raises SettingError."""
    file = folder / ".env"
    try:
        found = dotenv_values(file, interpolate=False) if file.is_file() else {}
    except (OSError, UnicodeError):
        raise SettingError(f"{file} cannot be read as UTF-8 text.") from None
    lines = {key: value or "" for key, value in found.items()}
    return Settings({**lines, **environment})
