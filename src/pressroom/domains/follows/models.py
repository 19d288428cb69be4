"""What one account has to do with another that it follows or asks to follow."""

import msgspec


class Following(msgspec.Struct, frozen=True):
    """Whether an account follows another one, or waits for it to accept."""

    following: bool
    requested: bool = False


class Person(msgspec.Struct):
    """An account in a list of followers, of followed accounts or of those who wait. `listed_as` is its place in the
    list; `created_at` (milliseconds) is since when."""

    listed_as: str
    id: str
    username: str
    display_name: str
    verified: bool
    created_at: int
