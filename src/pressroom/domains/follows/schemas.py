"""The follows room's wire shapes."""

import msgspec


class FollowingOut(msgspec.Struct):
    """Whether the caller follows the account now."""

    following: bool
