"""Settings as admins see them: no password gets through, however it is written."""

import pytest

from pressroom.settings import Settings, all_settings
from pressroom.settings.shown import masked, shown_settings


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("sqlite:////var/lib/pressroom/pressroom.db", "sqlite:////var/lib/pressroom/pressroom.db"),
        ("postgresql://pressroom:sesame@db:5432/pressroom", "postgresql://…@db:5432/pressroom"),
        ("postgresql://db/pressroom?user=a&password=sesame", "postgresql://db/pressroom?…"),
        ("postgresql://a:sesame/x@db/pressroom", "postgresql://…"),
        ("postgresql://a:sesame?x@db/pressroom", "postgresql://…"),
        ("postgresql://a:sesame#x@db/pressroom", "postgresql://…"),
        ("postgresql://a:ses@ame@db/pressroom", "postgresql://…"),
        ("postgresql://a:p@db/pressroom?password=x@sesame", "postgresql://…"),
        ("redis://:sesame@redis:6379/0", "redis://…@redis:6379/0"),
        ("unix://:sesame@/run/redis.sock?db=0", "unix://…@/run/redis.sock?…"),
        ("smtps://a%40b:sesame@mail.example", "smtps://…@mail.example"),
        ("s3://media/own?endpoint=https://s3.example&region=eu", "s3://media/own?…"),
        ("https://press.example", "https://press.example"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("10.0.0.0/8 fd00::/8", "10.0.0.0/8 fd00::/8"),
        ("", ""),
    ],
)
def test_addresses_are_shown_without_who_signs_in(given: str, shown: str) -> None:
    assert masked(given) == shown


def test_every_setting_is_shown_with_whether_it_is_given() -> None:
    shown = list(shown_settings(Settings({"PRESSROOM_PORT": "9000", "PRESSROOM_SIGNUP": " "})))

    assert [each.name for each in shown] == [setting.variable for setting in all_settings()]
    given = {each.name: each.value for each in shown if each.is_given}
    assert given == {"PRESSROOM_PORT": "9000"}
