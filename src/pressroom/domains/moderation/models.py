"""What the owner of a key is told that an operator's verb revokes, unless the operator says otherwise."""

from typing import Final

SUSPENDED: Final = "The account was suspended."
DELETED: Final = "The account was deleted."
