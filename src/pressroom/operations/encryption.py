"""Files of backups, encrypted in the format of age for one or more public keys (docs/backup.md#encryption)."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyrage

from pressroom.errors import SettingError

BEGINNING: Final = "AGE-SECRET-KEY-"
DIGEST_LENGTH: Final = 16


class Recipients:
    """The public keys for which files are encrypted.

    Args:
        given: Keys as `age-keygen` prints them. Raises SettingError when one is not.
    """

    def __init__(self, given: Sequence[str]) -> None:
        self._recipients: list[pyrage.x25519.Recipient] = []
        for each in given:
            try:
                self._recipients.append(pyrage.x25519.Recipient.from_str(each))
            except pyrage.RecipientError:
                raise SettingError(f"{each!r} is no public key of age: it begins with age1, in one line.") from None
        # Files that other keys open are no files of this backup, so each set of keys has objects of its own.
        self.digest = hashlib.sha256(" ".join(sorted(set(given))).encode()).hexdigest()[:DIGEST_LENGTH]

    def encrypt(self, file: Path, to: Path) -> None:
        """Writes the encrypted content of a file to a new one."""
        to.touch(mode=0o600)
        pyrage.encrypt_file(str(file), str(to), self._recipients)


class Identities:
    """The secret keys that open files.

    Args:
        file: Secret keys, as `age-keygen -o FILE` writes them. Raises SettingError when it has none.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            lines = [line.strip() for line in file.read_text().splitlines()]
            self._identities = [pyrage.x25519.Identity.from_str(line) for line in lines if line.startswith(BEGINNING)]
        except OSError as error:
            raise SettingError(f"{file} cannot be read: {error.strerror}.") from None
        except (UnicodeDecodeError, pyrage.IdentityError):
            self._identities = []
        if not self._identities:
            raise SettingError(f"{file} holds no secret key of age: a line that begins with {BEGINNING}.")

    def decrypt(self, file: Path, to: Path) -> None:
        """Writes the decrypted content of a file to a new one. Raises SettingError."""
        to.touch(mode=0o600)
        try:
            pyrage.decrypt_file(str(file), str(to), self._identities)
        except pyrage.DecryptError as error:
            raise SettingError(f"The backup cannot be decrypted with the keys of {self._file}: {error}.") from None
