"""The corpus, made once a run, and what becomes of its files."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pressroom.domains.media.kinds import sniff
from pressroom.domains.media.sandbox import ChildDied, ChildExit, DecodingLimits, Processed, Sandbox, Undecodable
from tests.corpus.make import make
from tests.services.process import alone
from tests.services.session import run_folder

Outcome = Processed | Undecodable | ChildDied


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`corpus("plain.jpg")` is the path of that file, which one worker makes for all."""
    folder = run_folder(tmp_path_factory.getbasetemp()) / "corpus"
    folder.mkdir(exist_ok=True)

    def made(name: str) -> Path:
        with alone(folder / ".gate"):
            return make(name, folder)

    return made


class Studio:
    """One sandbox for the run: `open(path, folder)` is what became of a file; `ended` is how each child ended."""

    def __init__(self) -> None:
        self.ended: list[ChildExit] = []
        self.sandbox = Sandbox(self.ended.append)

    def open(self, path: Path, folder: Path, limits: DecodingLimits | None = None) -> Outcome:
        kind = sniff(path.read_bytes()[:4096])
        assert kind is not None
        folder.mkdir(exist_ok=True)
        try:
            return asyncio.run(self.sandbox.process(path, kind, folder, limits))
        except (Undecodable, ChildDied) as error:
            return error


@pytest.fixture(scope="session")
def studio() -> Iterator[Studio]:
    """The run's sandbox."""
    studio = Studio()
    yield studio
    asyncio.run(studio.sandbox.close())


@pytest.fixture
def develop(studio: Studio, corpus: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Processed]:
    """`develop("plain.jpg")` is a file of the corpus, processed into tmp_path; anything else fails the test."""

    def develop_(name: str) -> Processed:
        outcome = studio.open(corpus(name), tmp_path)
        assert isinstance(outcome, Processed), outcome
        return outcome

    return develop_
