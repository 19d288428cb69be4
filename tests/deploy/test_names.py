"""Every setting, port, metric and command that deploy/ names exists."""

import json
import re
import tomllib
from itertools import takewhile
from pathlib import Path

import click
import yaml

from pressroom.cli import main
from pressroom.settings import Settings, all_settings
from pressroom.settings.files import CONFIG, PASSED, read_settings
from tests.deploy.examples import DEPLOY, VARIABLES, commands, environment, said, services

METRICS = DEPLOY.parent / "src" / "pressroom" / "metrics" / "prometheus.py"
SUFFIXES = ("", "_total", "_bucket", "_sum", "_count")


def test_every_setting_exists_and_takes_its_value() -> None:
    known = {setting.variable for setting in all_settings()} | {CONFIG}
    assert set(re.findall(r"PRESSROOM_[A-Z_]+[A-Z]", said())) <= known
    for service in services().values():
        if service["image"] == "pressroom":
            Settings(environment(service, VARIABLES))


def test_the_file_of_settings_is_read_as_it_stands_and_with_every_line_in_force() -> None:
    text = (DEPLOY / "pressroom.toml").read_text("utf-8")
    its = read_settings({CONFIG: str(DEPLOY / "pressroom.toml")}, DEPLOY)
    assert its.data_dir == Path("/var/lib/pressroom")
    offered = tomllib.loads(re.sub(r"^# (\w+ = )", r"\1", text, flags=re.MULTILINE))
    assert len(offered) > 8
    names = {name if name.startswith(PASSED) else f"PRESSROOM_{name.upper()}" for name in offered}
    assert {name for name in names if not name.startswith(PASSED)} <= {each.variable for each in all_settings()}


def test_every_metric_is_measured() -> None:
    measured = {
        f"{name}{end}" for name in re.findall(r'"(pressroom_\w+)"', METRICS.read_text("utf-8")) for end in SUFFIXES
    }
    texts = [(DEPLOY / name).read_text("utf-8") for name in ("prometheus/alerts.yml", "grafana/pressroom.json")]
    named = {name for text in texts for name in re.findall(r"pressroom_\w+", text)}
    assert len(named) > 8
    assert named <= measured


def test_alerts_and_panels_have_descriptions() -> None:
    groups = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text("utf-8"))["groups"]
    records, rules = groups[0]["rules"], groups[1]["rules"]
    assert all(rule["annotations"]["summary"] and rule["labels"]["severity"] in ("page", "ticket") for rule in rules)
    assert len({rule["alert"] for rule in rules}) == len(rules)
    used = {name for rule in rules for name in re.findall(r"pressroom:[\w:]+", rule["expr"])}
    assert used == {rule["record"] for rule in records}
    runbook = (DEPLOY.parent / "docs" / "runbook.md").read_text("utf-8")
    assert re.findall(r"^## (\w+)$", runbook, re.MULTILINE) == [rule["alert"] for rule in rules]
    assert [rule["annotations"]["runbook"] for rule in rules] == [
        f"docs/runbook.md#{rule['alert'].lower()}" for rule in rules
    ]
    panels = json.loads((DEPLOY / "grafana" / "pressroom.json").read_text("utf-8"))["panels"]
    assert all(panel["title"] and panel["targets"] for panel in panels)


def test_every_command_exists_with_its_options() -> None:
    given = commands()
    assert ["serve", "--only", "api"] in given
    assert ["worker"] in given
    for words in given:
        check(main, words)


def check(command: click.Command, words: list[str]) -> None:
    """Fails when there is no such command, or it has not such options."""
    if isinstance(command, click.Group):
        below = command.get_command(click.Context(command), words[0])
        assert below is not None, words
        check(below, words[1:])
        return
    options = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options, words


def test_the_ports_are_those_that_are_served() -> None:
    settings = Settings({})
    balanced = re.findall(r"^ +server api\d api\d:(\d+)$", (DEPLOY / "haproxy.cfg").read_text("utf-8"), re.MULTILINE)
    assert balanced == [str(settings.port)] * 2
    scraped = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text("utf-8"))
    targets = scraped["scrape_configs"][0]["static_configs"][0]["targets"]
    ours = {
        f"{name}:{service['environment']['PRESSROOM_METRICS_PORT']}"
        for name, service in services().items()
        if service["image"] == "pressroom" and name != "migrate"
    }
    assert set(targets) == ours
    exposed = re.findall(r"^EXPOSE (.*)$", (DEPLOY / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    assert exposed == [f"{settings.port} {targets[0].split(':')[1]}"]


def test_processes_in_containers_may_do_little() -> None:
    ours = [service for service in services().values() if service["image"] == "pressroom"]
    assert len(ours) == 5
    for service in ours:
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
    lines = (DEPLOY / "Dockerfile").read_text("utf-8").splitlines()
    last = list(takewhile(lambda line: not line.startswith("FROM "), reversed(lines)))
    assert "USER 10001" in last
    assert all("--require-hashes" in line or "--no-deps" in line for line in lines if "pip install" in line)


def test_files_that_others_are_mounted_from_exist() -> None:
    mounted = {
        volume.split(":")[0]
        for service in services().values()
        for volume in service.get("volumes", ())
        if volume.startswith("./") and "site.pem" not in volume
    }
    assert mounted
    assert all((DEPLOY / name).exists() for name in mounted)
