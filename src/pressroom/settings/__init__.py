"""Every setting: its name, default and one line of help, from which docs/settings.md is generated.

`pressroom.settings.files` finds them in the environment and in files. An invalid value raises SettingError with one
line that names it, its place and the fault.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Generic, TypeVar, overload

from pressroom.errors import SettingError
from pressroom.settings.addresses import read_mail_server, read_mailbox
from pressroom.settings.values import (
    Pooler,
    mail_domain,
    optional_address,
    optional_port,
    read_base_address,
    read_blobs,
    read_confinement,
    read_database,
    read_flag,
    read_networks,
    read_pooler,
    read_redis,
    read_replica,
    read_schema,
    read_signup,
    read_text,
    read_usernames,
    read_waits,
    read_web_address,
    read_when_away,
    whole_number,
)

RESTORING = ".restoring"
"""A file in the data folder while a backup is being restored: as long as it exists, nothing may be served."""

PREFIX: Final = "PRESSROOM_"

ENVIRONMENT: Final = "environment"
DEFAULT: Final = "default"

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


RESERVE: Final = "limits.reserve"
"""File in the data folder for counts that the database cannot take (docs/limits.md#after-a-crash)."""


class Settings:
    """The settings of one process, read once.

    Args:
        variables: Texts by the full names of the settings.
        files: The files that were read.
        sources: The path of the file, for each variable that a file gives.

    Raises:
        SettingError: A value is invalid, or does not go together with another.
    """

    host = Setting(read_text, "127.0.0.1", "Address to listen on.")
    port = Setting(whole_number(1, 65_535), "8000", "Port to listen on.")
    data_dir = Setting(
        lambda value: Path(value).absolute(),
        "./data",
        "Folder of the SQLite file and everything else on disk.",
    )
    dev = Setting(
        read_flag,
        "0",
        "1: development mode, at a loopback or private base address only. Makes a first account, an admin, and a key "
        "on an empty database and prints them, opens sign-up, and lets webhooks reach private networks by http.",
    )
    base_url = Setting(
        read_base_address,
        lambda its: f"http://{f'[{its.host}]' if ':' in its.host else its.host}:{its.port}",
        "Address under which clients reach this server; https here makes cookies Secure.",
        "http://HOST:PORT",
    )
    permalink_base = Setting(
        read_web_address, lambda its: its.base_url, "What permalinks start with: …/post/{id}.", "the base address"
    )
    database_url = Setting(
        read_database,
        lambda its: f"sqlite:///{its.data_dir / 'pressroom.db'}",
        "sqlite:///FILE or postgresql://USER@HOST/NAME; of several, as …@HOST,HOST/NAME, the one that takes writes.",
        "sqlite:///DATA_DIR/pressroom.db",
    )
    database_pooler = Setting(
        read_pooler,
        "session",
        "What PRESSROOM_DATABASE_URL leads to: session (PostgreSQL itself, or a pooler that keeps sessions), or "
        "transaction (a pooler that gives each transaction another session, as PgBouncer can).",
    )
    database_direct_url = Setting(
        read_database,
        lambda its: its.database_url,
        "PostgreSQL without the pooler: for signals, locks and migrations, which need a session of their own.",
        "PRESSROOM_DATABASE_URL",
    )
    database_schema = Setting(
        read_schema,
        "public",
        "Schema of PostgreSQL for all tables. Several installations share a database, a Redis and a bucket when each "
        "has a schema of its own.",
    )
    replica_url = Setting(
        read_replica,
        "",
        "A standby of PostgreSQL, postgresql://…, that pages are read from for visitors who are not signed in; several "
        "hosts may be named.",
        "unset",
    )
    database_connections = Setting(
        whole_number(1, 1_000), "16", "Connections to PostgreSQL that each process opens at the most."
    )
    database_connect_timeout_seconds = Setting(
        whole_number(1, 60), "5", "Time for a connection to PostgreSQL to be made, in seconds."
    )
    database_pool_timeout_seconds = Setting(
        whole_number(1, 300),
        "10",
        "Time that a request waits for them in all while others are busy, in seconds; then 503.",
    )
    database_statement_timeout_seconds = Setting(
        whole_number(1, 3_600), "10", "Time for one statement on PostgreSQL, waiting for locks included, in seconds."
    )
    database_idle_transaction_timeout_seconds = Setting(
        whole_number(1, 3_600),
        "10",
        "Time after which PostgreSQL ends a transaction whose process says nothing, and lets go of its locks, in "
        "seconds.",
    )
    database_silence_timeout_seconds = Setting(
        whole_number(3, 3_600),
        "15",
        "Time after which a connection to PostgreSQL whose other end answers nothing is given up, by both, in seconds.",
    )
    blobs_url = Setting(
        read_blobs,
        lambda its: f"file://{its.data_dir / 'blobs'}",
        "Where media are stored: file:///FOLDER, or s3://BUCKET/PREFIX?endpoint=https://HOST&region=NAME with the "
        "credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
        "file://DATA_DIR/blobs",
        secret=True,
    )
    blobs_timeout_seconds = Setting(
        whole_number(1, 300),
        "15",
        "Seconds that a request to an S3 store may take before the store counts as away; an upload has one more for "
        "each MiB.",
    )
    media_confinement = Setting(
        read_confinement,
        "available",
        "How processes that decode media are confined: full refuses to start without Landlock and seccomp; available "
        "uses what the machine has, and logs what it lacks.",
    )
    redis_url = Setting(
        read_redis,
        "",
        "redis://HOST:PORT/N, redis+sentinel://HOST:PORT,…/NAME/N or redis+cluster://HOST:PORT,…: shares rate limits "
        "between processes.",
        "unset",
    )
    redis_timeout_ms = Setting(
        whole_number(10, 60_000), "250", "Milliseconds that a call to Redis may take before Redis counts as away."
    )
    limits_when_away = Setting(
        read_when_away,
        "refuse",
        "refuse: with Redis away, requests with a key are 503. local: each process counts for itself until it is back.",
    )
    requests_per_minute = Setting(whole_number(1, 1_000_000), "60", "Requests per key in any 60 seconds.")
    requests_per_day = Setting(whole_number(1, 1_000_000_000), "10000", "Requests per key in any 24 hours.")
    posts_per_minute = Setting(whole_number(1, 1_000_000), "10", "POST /api/posts per key in any 60 seconds.")
    daily_content_quota = Setting(
        whole_number(0, 1_000_000_000), "1000", "Posts, clips and bounces by key per account and UTC day."
    )
    session_writes_per_minute = Setting(
        whole_number(1, 1_000_000),
        "60",
        "Writes of an account that is signed in, over all its sessions, in any 60 seconds.",
    )
    session_content_per_day = Setting(
        whole_number(0, 1_000_000_000), "2000", "Posts, clips and bounces of an account that is signed in per UTC day."
    )
    account_storage_bytes = Setting(
        whole_number(0, 2**60),
        str(5 * 2**30),
        "Bytes of media that an account may store, by key and signed in together.",
    )
    abuse_refusals = Setting(
        whole_number(1, 1_000_000), "600", "Rate-limit refusals within the abuse window that revoke a key."
    )
    abuse_window_seconds = Setting(whole_number(1, 86_400), "600", "Length of the abuse window, in seconds.")
    signup = Setting(
        read_signup,
        lambda its: "open" if its.dev else "closed",
        "Who may sign up: open, invite (with a link that an admin makes) or closed. `pressroom account create` makes "
        "accounts in any case.",
        "closed; in development mode open",
    )
    signups_per_hour = Setting(
        whole_number(1, 10_000), "5", "Sign-ups per client address in any hour, tried ones too; of IPv6 per /64."
    )
    reserved_usernames = Setting(
        read_usernames,
        "",
        "User names that nobody can take, separated by commas, beside those that are reserved already.",
        "empty",
    )
    public_explore = Setting(
        read_flag, "0", "1: the front page shows explore to visitors who are not signed in, instead of an introduction."
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
        lambda its: f"Pressroom <pressroom@{mail_domain(its.base_url)}>",
        "Sender of mail: name@example.org or Name <name@example.org>.",
        "Pressroom <pressroom@HOST of the base address>",
    )
    resets_per_hour = Setting(
        whole_number(1, 10_000), "20", "Requests for a new password per client address in any hour; of IPv6 per /64."
    )
    trusted_proxies = Setting(
        read_networks, "", "Networks of reverse proxies whose X-Forwarded-For is trusted.", "empty"
    )
    sign_in_failures_per_account = Setting(
        whole_number(1, 10_000), "10", "Failed sign-ins per account in 15 minutes before more are refused."
    )
    sign_in_failures_per_address = Setting(
        whole_number(1, 100_000), "100", "Failed sign-ins per client address in 15 minutes before more are refused."
    )
    sign_ins_per_account = Setting(
        whole_number(1, 100_000),
        "30",
        "Right passwords per account in 15 minutes before more are refused; new passwords count too.",
    )
    sign_ins_per_address = Setting(
        whole_number(1, 1_000_000), "300", "Right passwords per client address in 15 minutes before more are refused."
    )
    outbound_allow = Setting(
        read_networks, "", "Networks that webhooks and previews may reach although they are private.", "empty"
    )
    outbound_allow_force = Setting(
        read_flag, "0", "1: PRESSROOM_OUTBOUND_ALLOW applies also on a server with a public base address."
    )
    webhook_retry_waits = Setting(
        read_waits, "60,120,240,480", "Seconds between the five attempts to deliver a webhook; each varies by a tenth."
    )
    delivery_retention_days = Setting(
        whole_number(30, 3_650),
        "30",
        "Days for which events, deliveries that ended and their attempts are kept; 30 at least.",
    )
    notification_retention_days = Setting(whole_number(30, 3_650), "90", "Days for which notifications are kept.")
    log_retention_days = Setting(
        whole_number(30, 3_650), "365", "Days for which the logs of accounts and of admins are kept, in the database."
    )
    body_timeout_seconds = Setting(whole_number(1, 600), "10", "Time for a JSON body to arrive, in seconds.")
    upload_timeout_seconds = Setting(whole_number(1, 3_000), "300", "Time for an upload to arrive, in seconds.")
    reader_timeout_seconds = Setting(
        whole_number(1, 600), "30", "Time after which a connection whose client reads nothing is closed, in seconds."
    )
    answers_bytes = Setting(
        whole_number(1_048_576, 2**40),
        str(256 * 1024 * 1024),
        "Memory for large responses being sent, in bytes; one address gets an eighth of it. Beyond it they are 503.",
    )
    drain_seconds = Setting(
        whole_number(0, 300),
        "0",
        "Seconds for which a server that is told to stop still serves, while /readyz is 503, so that a load balancer "
        "sends it nothing more.",
    )
    metrics_port = Setting(
        optional_port, "", "Port of GET /metrics for Prometheus; without it nothing is measured.", "unset"
    )
    slow_step_ms = Setting(
        whole_number(0, 60_000),
        "100",
        "Milliseconds from which a step of the event loop counts as slow: the log and the metrics name its function. "
        "0: steps are not watched.",
    )
    metrics_host = Setting(read_text, "127.0.0.1", "Address on which metrics are served.")
    tracing_endpoint = Setting(
        optional_address,
        "",
        "Address of an OpenTelemetry collector (OTLP over HTTP, such as http://localhost:4318) that traces are sent "
        "to; needs the extra: pip install 'pressroom[tracing]'.",
        "unset",
    )
    access_log = Setting(read_flag, "1", "1: a line of JSON for each request on standard error.")

    def __init__(
        self, variables: Mapping[str, str], files: tuple[Path, ...] = (), sources: Mapping[str, Path] | None = None
    ) -> None:
        self.variables = dict(variables)
        self._sources = dict(sources or {})
        self.files = files
        for setting in all_settings():
            self.value(setting)
        self._check_databases()

    def _check_databases(self) -> None:
        """Raises SettingError when the addresses of databases do not go together."""
        direct = Settings.database_direct_url
        if self.database_pooler is Pooler.TRANSACTION and not self.is_given(direct):
            raise SettingError(
                f"PRESSROOM_DATABASE_POOLER=transaction needs {direct.variable}, which leads past the pooler: signals,"
                " locks and migrations need a session of their own."
            )
        engines = {url.partition(":")[0] == "sqlite" for url in (self.database_url, self.database_direct_url)}
        if len(engines) > 1:
            raise SettingError(f"{direct.variable} must lead to the same database as PRESSROOM_DATABASE_URL.")
        for given, variable in (
            (self.is_given(Settings.replica_url), Settings.replica_url.variable),
            (self.is_given(Settings.database_schema), Settings.database_schema.variable),
        ):
            if given and True in engines:
                raise SettingError(f"{variable} needs PostgreSQL (PRESSROOM_DATABASE_URL).")

    @property
    def installation(self) -> str:
        """Returns the name that distinguishes this installation from others in the same PostgreSQL, Redis or bucket.

        That of the schema `public` is `pressroom`, as it was before an installation could have a schema of its own.
        """
        return "pressroom" if self.database_schema == "public" else f"pressroom_{self.database_schema}"

    def value(self, setting: Setting[T]) -> T:
        """Returns the value of one setting, which is an attribute of its own from then on. Raises SettingError."""
        raw = self.raw(setting)
        try:
            value = self.__dict__[setting.name] = setting.read(raw)
        except ValueError as error:
            # An address may contain a password, so the message leaves it out.
            shown = "" if setting.secret or "@" in raw else f": {raw!r}"
            where = f" (in {source})" if (source := self._sources.get(setting.variable)) else ""
            raise SettingError(f"{setting.variable} {error}{shown}{where}") from None
        return value

    def raw(self, setting: Setting[T]) -> str:
        """Returns the text of a setting: the given one, or the default."""
        default = setting.default if isinstance(setting.default, str) else setting.default(self)
        return self.variables.get(setting.variable, "").strip() or default

    def is_given(self, setting: Setting[T]) -> bool:
        """Returns whether the environment or the file gives the setting: otherwise it has its default."""
        return bool(self.variables.get(setting.variable, "").strip())

    def source(self, setting: Setting[T]) -> str:
        """Returns where the value of a setting is from: `default`, `environment` or the path of a file."""
        if not self.is_given(setting):
            return DEFAULT
        return self.origin(setting.variable)

    def origin(self, variable: str) -> str:
        """Returns where a given variable is from: `environment` or the path of a file."""
        return str(self._sources.get(variable, ENVIRONMENT))

    @property
    def database_file(self) -> Path | None:
        """Returns the file of a SQLite database; None on PostgreSQL."""
        scheme, _, file = self.database_url.partition(":///")
        return Path(file) if scheme == "sqlite" else None


def all_settings() -> list[Setting[object]]:
    """Returns all settings in the order of their documentation."""
    return [value for value in vars(Settings).values() if isinstance(value, Setting)]
