"""Where the programs are that are no Python packages: beside Python, on the path, or among those of administrators."""

import os
import shutil
import sys
from pathlib import Path


def found(name: str, variable: str | None = None) -> Path | None:
    """Return where a program is, None if it is nowhere; an environment variable may name it."""
    if variable is not None and (given := os.environ.get(variable)):
        return Path(given)
    places = [str(Path(sys.executable).parent), os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]
    path = shutil.which(name, path=os.pathsep.join(places))
    return Path(path) if path else None
