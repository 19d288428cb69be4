"""The state that all processes of an installation share, read again every second, not at each request."""

from pressroom.db import Database
from pressroom.domains.shared_state.actions import SharedState, make_secrets, read_state
from pressroom.domains.shared_state.models import Maintenance, SecretName
from pressroom.domains.site_texts.models import SiteText
from pressroom.domains.site_texts.queries import find_announcement
from pressroom.signing_secrets import SecretVersion, SigningSecret

SECONDS = 1.0
"""Seconds between two looks."""


class StateWatch:
    """The secrets, maintenance mode while it is on (None: off), and the announcement, ended or not (None: none)."""

    def __init__(self, db: Database, state: SharedState) -> None:
        self.maintenance: Maintenance | None = state.maintenance
        self.announcement: SiteText | None = None
        self._db = db
        self._secrets = {name: SigningSecret(_of(name, state.secrets)) for name in SecretName}

    def secret(self, name: SecretName) -> SigningSecret:
        """Returns a secret, which follows rotations."""
        return self._secrets[name]

    async def look(self) -> None:
        """Reads the state once."""
        state = await self._db.read(read_state)
        self.maintenance = state.maintenance
        self.announcement = await self._db.read(find_announcement)
        for name, secret in self._secrets.items():
            # None in a database that was restored or replaced under this process, whose versions still hold.
            if versions := _of(name, state.secrets):
                secret.renew(versions)


async def open_state(db: Database) -> StateWatch:
    """Returns the watch of a database, whose secrets are made if it has none."""
    # Read first: a file that another program has locked for a while must not keep the server from starting.
    state = await db.read(read_state)
    if {version.name for version in state.secrets} < set(SecretName):
        state = SharedState(await db.transact(make_secrets, SecretName), state.maintenance)
    return StateWatch(db, state)


def _of(name: SecretName, versions: list[SecretVersion]) -> list[SecretVersion]:
    return [version for version in versions if version.name == name]
