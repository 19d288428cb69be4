"""The files of deploy/, read as their programs read them."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"

FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file() and path.suffix != ".pem" and path.name != ".env")

UNITS = sorted(DEPLOY.glob("*.service"))

PROGRAM = "/opt/pressroom/.venv/bin/pressroom"


VARIABLES = {
    "SITE_HOST": "social.example.org",
    "MEDIA_HOST": "media.example.org",
    "DATABASE_PASSWORD": "secret",
    "MEDIA_KEY": "key",
    "MEDIA_SECRET": "secret",
}
"""The variables that the compose file reads from the environment."""


def said() -> str:
    """All that the files say."""
    return "\n".join(path.read_text("utf-8") for path in FILES)


def composed() -> dict[str, dict[str, Any]]:
    """The compose file."""
    return cast("dict[str, dict[str, Any]]", yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8")))


def services() -> dict[str, dict[str, Any]]:
    """The services of the compose file, by name."""
    return composed()["services"]


def environment(service: Mapping[str, Any], variables: Mapping[str, str]) -> dict[str, str]:
    """The environment of a service, its variables filled in."""
    return {
        name: re.sub(r"\$\{(\w+):\?\}", lambda match: variables[match[1]], str(value))
        for name, value in service["environment"].items()
    }


def lines_of(unit: Path) -> list[tuple[str, str]]:
    """The assignments of a unit, in their order."""
    lines = unit.read_text("utf-8").splitlines()
    return [(name, value) for name, sign, value in (line.partition("=") for line in lines) if sign and name[0] != "#"]


def unit_environment(unit: Path) -> dict[str, str]:
    """The variables that a unit sets itself."""
    return dict(cast("tuple[str, str]", value.split("=", 1)) for name, value in lines_of(unit) if name == "Environment")


def commands() -> list[list[str]]:
    """Every `pressroom …` command in the files, as words."""
    found = [shlex.split(text) for text in re.findall(rf"{PROGRAM} ([^'\n]+)", said())]
    found += [list(map(str, each["command"])) for each in services().values() if each["image"] == "pressroom"]
    found += [re.findall(r"[\w-]+", text) for text in re.findall(r"^CMD \[(.*)\]", said(), re.MULTILINE)]
    prose = re.findall(r"pressroom ((?:serve|worker|migrate|account|key|job|webhook|backup|stats)\b[\w -]*)", said())
    return found + [text.split() for text in prose]
