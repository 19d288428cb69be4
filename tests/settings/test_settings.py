"""Settings: their sources, defaults and refusals."""

from pathlib import Path

import pytest

from pressroom.errors import SettingError
from pressroom.settings import Settings
from pressroom.settings.files import read_settings
from pressroom.settings.values import Signup


def test_defaults() -> None:
    its = Settings({})
    assert (its.host, its.port, its.dev) == ("127.0.0.1", 8000, False)
    assert its.base_url == its.permalink_base == "http://127.0.0.1:8000"
    assert its.database_url == f"sqlite:///{Path('data').absolute() / 'pressroom.db'}"
    assert (its.requests_per_minute, its.requests_per_day, its.posts_per_minute) == (60, 10_000, 10)
    assert (its.daily_content_quota, its.abuse_refusals, its.abuse_window_seconds) == (1_000, 600, 600)
    assert (its.signup, its.signups_per_hour) == (Signup.CLOSED, 5)
    assert its.redis_url is None


@pytest.mark.parametrize(
    ("dev", "given", "signup"),
    [("1", "", Signup.OPEN), ("1", "closed", Signup.CLOSED), ("", "open", Signup.OPEN), ("", "invite", Signup.INVITE)],
)
def test_sign_up_is_open_in_development_or_by_setting(dev: str, given: str, signup: Signup) -> None:
    assert Settings({"PRESSROOM_DEV": dev, "PRESSROOM_SIGNUP": given}).signup is signup


def test_addresses_follow_host_and_port() -> None:
    its = Settings({"PRESSROOM_HOST": "::1", "PRESSROOM_PORT": "80", "PRESSROOM_PERMALINK_BASE": "https://p.example/"})
    assert its.base_url == "http://[::1]:80"
    assert its.permalink_base == "https://p.example"


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PRESSROOM_PORT=1\nPRESSROOM_HOST=0.0.0.0\n# a comment\n")
    its = read_settings({"PRESSROOM_PORT": "2"}, tmp_path)
    assert (its.host, its.port) == ("0.0.0.0", 2)


POSTGRES = {"PRESSROOM_DATABASE_URL": "postgresql://h/d"}


@pytest.mark.parametrize("name", ["", "Shop", "1shop", "shop-2", 'shop"', "pg_shop", "information_schema", "s" * 49])
def test_schema_with_a_name_that_statements_cannot_bear_is_refused(name: str) -> None:
    given = {**POSTGRES, "PRESSROOM_DATABASE_SCHEMA": name}
    if not name:
        assert Settings(given).database_schema == "public"
        return
    with pytest.raises(SettingError, match="PRESSROOM_DATABASE_SCHEMA is "):
        Settings(given)


def test_schema_needs_postgresql() -> None:
    with pytest.raises(SettingError, match=r"PRESSROOM_DATABASE_SCHEMA needs PostgreSQL \(PRESSROOM_DATABASE_URL\)"):
        Settings({"PRESSROOM_DATABASE_SCHEMA": "shop"})


@pytest.mark.parametrize(
    ("schema", "installation"),
    [("public", "pressroom"), ("shop", "pressroom_shop"), ("s" * 48, f"pressroom_{'s' * 48}")],
)
def test_installation_is_named_after_its_schema(schema: str, installation: str) -> None:
    assert Settings({**POSTGRES, "PRESSROOM_DATABASE_SCHEMA": schema}).installation == installation


def test_an_empty_variable_means_the_default() -> None:
    assert Settings({"PRESSROOM_PORT": " "}).port == 8000


@pytest.mark.parametrize("port", [1, 65_535])
def test_least_and_largest_numbers_are_taken(port: int) -> None:
    assert Settings({"PRESSROOM_PORT": str(port)}).port == port


@pytest.mark.parametrize("value", ["1", "true", "YES", "on"])
def test_words_that_switch_on(value: str) -> None:
    assert Settings({"PRESSROOM_DEV": value}).dev


@pytest.mark.parametrize("value", ["0", "false", "No", "OFF", ""])
def test_words_that_switch_off(value: str) -> None:
    assert not Settings({"PRESSROOM_DEV": value}).dev


def test_a_refusal_names_the_setting_and_the_value() -> None:
    with pytest.raises(SettingError) as refused:
        Settings({"PRESSROOM_PORT": "eighty"})
    assert refused.value.message == "PRESSROOM_PORT is not a whole number from 1 to 65,535: 'eighty'"


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "metrics", "9" * 5_000, "٣"])
def test_number_out_of_range_names_the_range(value: str) -> None:
    with pytest.raises(SettingError, match=r"^PRESSROOM_METRICS_PORT is not a whole number from 1 to 65,535: "):
        Settings({"PRESSROOM_METRICS_PORT": value})


@pytest.mark.parametrize("value", ["postgresql://u:hunter2@[::1/d", "mysql://u:hunter2@h/d", "u:hunter2@h"])
def test_invalid_database_url_is_reported_without_its_password(value: str) -> None:
    with pytest.raises(SettingError, match=r"^PRESSROOM_DATABASE_URL is n") as refused:
        Settings({"PRESSROOM_DATABASE_URL": value})
    assert "hunter2" not in refused.value.message


def test_unknown_names_are_refused_together_each_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(SettingError) as refused:
        read_settings({"PRESSROOM_HOSTS": "x", "PRESSROOM_ZZZZZZZZ": "x", "OTHER": "x"}, tmp_path, tmp_path / "none")
    assert refused.value.message == (
        "PRESSROOM_HOSTS in the environment is no setting of this version: did you mean PRESSROOM_HOST?"
        " PRESSROOM_ZZZZZZZZ in the environment is no setting of this version; `pressroom config` lists all."
    )


def test_no_private_network_may_be_reached_by_default() -> None:
    its = Settings({})
    assert (its.outbound_allow, its.outbound_allow_force) == ((), False)


def test_networks_that_may_be_reached() -> None:
    its = Settings({"PRESSROOM_OUTBOUND_ALLOW": "10.0.0.0/8, fd00::/8", "PRESSROOM_OUTBOUND_ALLOW_FORCE": "1"})
    assert [str(network) for network in its.outbound_allow] == ["10.0.0.0/8", "fd00::/8"]
    assert its.outbound_allow_force is True
    with pytest.raises(SettingError) as refused:
        Settings({"PRESSROOM_OUTBOUND_ALLOW": "10.0.0.1/8"})
    assert refused.value.message.startswith("PRESSROOM_OUTBOUND_ALLOW is not a list of networks")


def test_media_are_kept_beside_the_database_by_default() -> None:
    its = Settings({"PRESSROOM_DATA_DIR": "/srv/press room?"})
    assert its.blobs_url == "file:///srv/press room?/blobs"
    assert Settings.blobs_url.shown == "file://DATA_DIR/blobs"


@pytest.mark.parametrize(
    "value",
    [
        "file:///srv/media",
        "s3://media",
        "s3://media/",
        "s3://my.media_1/press/room?region=eu-central-1",
        "s3://media/press?endpoint=http://127.0.0.1:9000&region=auto",
    ],
)
def test_where_media_may_be_kept(value: str) -> None:
    assert Settings({"PRESSROOM_BLOBS_URL": value}).blobs_url == value


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("hidden", "is neither file:///FOLDER nor s3://BUCKET/PREFIX"),
        ("file:///", "is neither file:///FOLDER nor s3://BUCKET/PREFIX"),
        ("file://hidden", "is neither file:///FOLDER nor s3://BUCKET/PREFIX"),
        ("gs://hidden/x", "is neither file:///FOLDER nor s3://BUCKET/PREFIX"),
        ("https://hidden.example/x", "is neither file:///FOLDER nor s3://BUCKET/PREFIX"),
        ("s3://", "is not s3://BUCKET/PREFIX"),
        ("s3:///hidden", "is not s3://BUCKET/PREFIX"),
        ("s3://hidden/../x", "is not s3://BUCKET/PREFIX"),
        ("s3://hidden//x", "is not s3://BUCKET/PREFIX"),
        ("s3://hidden/x#y", "is not s3://BUCKET/PREFIX"),
        ("s3://key:hidden@media", "is not s3://BUCKET/PREFIX; credentials belong into AWS_ACCESS_KEY_ID"),
        ("s3://media?secret_access_key=hidden", "may end in ?endpoint="),
        ("s3://media?endpoint=hidden:9000", "has an endpoint that is not http://HOST:PORT"),
        ("s3://media?endpoint=http://a:hidden@host", "has an endpoint that is not http://HOST:PORT"),
        ("s3://media?endpoint=", "has an endpoint that is not"),
        ("s3://media?region=hidden/x", "has a region that is none"),
        ("s3://media?endpoint=http://hidden:9x", "has an endpoint that is not http://HOST:PORT"),
        ("s3://[hidden", "is not s3://BUCKET/PREFIX"),
        ("s3://[hidden]/", "is not s3://BUCKET/PREFIX"),
        ("s3://key:hidden\u2100media", "is not s3://BUCKET/PREFIX"),
    ],
)
def test_where_media_may_not_be_kept(value: str, why: str) -> None:
    with pytest.raises(SettingError) as refused:
        Settings({"PRESSROOM_BLOBS_URL": value})
    assert refused.value.message.startswith(f"PRESSROOM_BLOBS_URL {why}")
    assert "hidden" not in refused.value.message
    assert "\n" not in refused.value.message


def test_a_base_address_has_no_path() -> None:
    assert Settings({"PRESSROOM_BASE_URL": "https://press.example/"}).base_url == "https://press.example"
    with pytest.raises(SettingError, match=r"PRESSROOM_BASE_URL has a path; .* give them a host name"):
        Settings({"PRESSROOM_BASE_URL": "https://example.org/press"})
    assert Settings({"PRESSROOM_PERMALINK_BASE": "https://example.org/press/"}).permalink_base.endswith("/press")


@pytest.mark.parametrize(
    "address",
    [
        "https://ex ample",
        "https://a\tb",
        "https://press.example\\evil",
        "https://пресса.example",
        "https://münchen.example",
        "https://press.example:99999",
        "https://press.example:x",
        "https://-",
        'https://press.example/"><b>',
        "http://[::1]x",
    ],
    ids=ascii,
)
@pytest.mark.parametrize("setting", ["PRESSROOM_BASE_URL", "PRESSROOM_PERMALINK_BASE"])
def test_an_address_that_no_browser_would_send_is_refused(setting: str, address: str) -> None:
    with pytest.raises(SettingError, match=setting) as refused:
        Settings({setting: address})
    assert "\n" not in refused.value.message


@pytest.mark.parametrize(
    "address", ["https://xn--mnchen-3ya.example:8443", "http://[::1]:8000", "http://press_room:80"]
)
def test_an_address_that_browsers_send_is_taken(address: str) -> None:
    assert Settings({"PRESSROOM_BASE_URL": address}).base_url == address


@pytest.mark.parametrize(
    ("value", "host", "port", "tls", "username"),
    [
        ("smtp://mail.example", "mail.example", 587, "starttls", None),
        ("smtp://u%40x:p%2Fw@mail.example:2525", "mail.example", 2525, "starttls", "u@x"),
        ("smtps://u:p@mail.example/", "mail.example", 465, "implicit", "u"),
        ("smtp://localhost:25?tls=off", "localhost", 25, "off", None),
        ("smtp://[::1]:25?tls=off", "::1", 25, "off", None),
    ],
)
def test_a_mail_server(value: str, host: str, port: int, tls: str, username: str | None) -> None:
    found = Settings({"PRESSROOM_SMTP_URL": value}).smtp_url
    assert found is not None
    assert (found.host, found.port, found.tls, found.username) == (host, port, tls, username)
    assert "p/w" not in repr(found)


@pytest.mark.parametrize(
    "value",
    [
        *("mail.example", "http://mail.example", "smtp://", "smtp://h:x", "smtp://h/path", "smtp://h#x"),
        *("smtp://h?tls=on", "smtp://h?a=b", "smtps://h?tls=off", "smtp://hunter2@h", "smtp://u:hunter2@h?tls=off"),
        *("smtp://u:hunter2@h:99999", "smtp://u:hunter2@[h"),
    ],
)
def test_a_mail_server_that_is_none_is_refused_without_its_password(value: str) -> None:
    with pytest.raises(SettingError) as refused:
        Settings({"PRESSROOM_SMTP_URL": value})
    assert refused.value.message.startswith("PRESSROOM_SMTP_URL ")
    assert "hunter2" not in refused.value.message


def test_sender_of_mail_is_parsed() -> None:
    assert Settings({}).mail_from.address == "pressroom@localhost"
    its = Settings({"PRESSROOM_BASE_URL": "https://news.example"}).mail_from
    assert (its.name, its.address) == ("Pressroom", "pressroom@news.example")
    its = Settings({"PRESSROOM_MAIL_FROM": "The Press <press@news.example>"}).mail_from
    assert (its.name, its.address) == ("The Press", "press@news.example")
    assert Settings({"PRESSROOM_MAIL_FROM": "a@b.example"}).mail_from.name == ""
    for wrong in ("press", "a@b\r\nBcc: c@d", "<a@b", "a@b>", "a b@c", "x\ny <a@b>"):
        with pytest.raises(SettingError):
            Settings({"PRESSROOM_MAIL_FROM": wrong})
