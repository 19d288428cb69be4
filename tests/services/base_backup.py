"""A PostgreSQL that starts from a base backup."""

from pathlib import Path
from typing import Self

from .postgres import PostgresServer, run_program
from .process import Lease


class RestoredPostgres(PostgresServer):
    """A server on the files of a base backup."""

    @classmethod
    def of(cls, origin: PostgresServer, base: Path, folder: Path) -> Self:
        """Start a server on a copy of `base`, with the settings of the one it was taken of. Its log is in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        server = cls(folder, Lease(folder / "postgres.lease"))
        server._settings = dict(origin._settings)
        try:
            server._settle(folder)
            data = server._home / "data"
            run_program(["cp", "-a", str(base), str(data)])
            if (account := server._account) is not None:
                run_program(["chown", "-R", f"{account.uid}:{account.gid}", str(data)])
        except BaseException:
            server.stop()
            raise
        return server._begin()
