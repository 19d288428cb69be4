"""Sends fuzzed requests, holds each answer to the document, and keeps the faults."""

import math
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import seed as seeded

from pressroom.server.slow_steps import SlowStep
from tests.fuzz.cases import WAYS_PER_CASE, Operation, Plan, Way, plans, request_of
from tests.fuzz.curl import curl
from tests.fuzz.slow_steps import REASONS, watch
from tests.fuzz.subjects import Subjects
from tests.harness.documented import Documented, Json
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

SHOWN = 10
"""Complaints that a report shows; the rest are mostly the same once more."""


@dataclass
class Report:
    """The requests of a run and the faults of the answers."""

    seed: int
    statuses: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    slow_steps: list[SlowStep] = field(default_factory=list)
    complaints: dict[str, str] = field(default_factory=dict)
    """Complaints, each with the shortest request that gives rise to it and the answer to that."""

    @property
    def sent(self) -> int:
        """How many requests were answered."""
        return sum(each.total() for each in self.statuses.values())

    @property
    def too_slow(self) -> list[SlowStep]:
        """Steps of the event loop that took too long without a reason."""
        return [step for step in self.slow_steps if step.function not in REASONS]

    @property
    def unreached(self) -> list[str]:
        """Operations that never did what they are for, so that all behind their first refusals was never tried."""
        return [label for label, seen in self.statuses.items() if not any(status < 300 for status in seen)]

    def blame(self, complaint: str, request: httpx.Request, answered: str) -> None:
        """Notes a fault, unless it is known from a request as short."""
        evidence = f"  {curl(request)}\n  {answered}"
        if len(evidence) < len(self.complaints.get(complaint, evidence + " ")):
            self.complaints[complaint] = evidence

    def __str__(self) -> str:
        lines = [f"{self.sent:,} requests with seed {self.seed}, {len(self.complaints)} complaints"]
        lines += (f"  {label}: {dict(sorted(seen.items()))}" for label, seen in self.statuses.items())
        lines += (f"{complaint}\n{evidence}" for complaint, evidence in list(self.complaints.items())[:SHOWN])
        return "\n".join(lines)


def fuzz(folder: Path, requests: int, seed: int) -> Report:
    """Sends at least so many requests, divided over all operations that a key may use, to a new server."""
    with ExitStack() as stack:
        server = LocalServer(folder, **ROOMY).start()
        stack.callback(server.stop)
        document = httpx.get(f"{server.base_url}/openapi.json").json()
        fuzzer = Fuzzer(server, document, seed)
        fuzzer.report.slow_steps = stack.enter_context(watch(server))
        stack.callback(fuzzer.subjects.close)
        operations = list(keyed_operations(document))
        for operation in operations:
            fuzzer.try_out(operation, math.ceil(requests / len(operations)))
        return fuzzer.report


def keyed_operations(document: Json) -> Iterator[Operation]:
    """The operations that a key may use, as schemathesis knows them; but for forms, which have tests of their own."""
    schema = schemathesis.openapi.from_dict(document, config=schemathesis.Config())
    schema.config.generation.with_security_parameters = False  # The key is always the right one.
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            is_form = "multipart/form-data" in operation.get("requestBody", {}).get("content", {})
            if any("apiKey" in way_in for way_in in operation.get("security", document["security"])) and not is_form:
                yield schema[path][method.upper()]


class Fuzzer:
    """One server, the document that it serves, and what came of trying it out."""

    def __init__(self, server: LocalServer, document: Json, seed: int) -> None:
        self.report = Report(seed)
        self.subjects = Subjects(server, document)
        self._document = document
        self._documented = Documented(document)

    def try_out(self, operation: Operation, requests: int) -> None:
        """Sends so many requests to one operation."""
        self.report.statuses[operation.label] = Counter()

        @seeded(self.report.seed)
        @settings(
            max_examples=math.ceil(requests / WAYS_PER_CASE),
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=cast("list[HealthCheck]", list(HealthCheck)),  # iterated by an untyped metaclass
        )
        @given(plans(operation))
        def send_in_all_ways(plan: Plan) -> None:
            answered = [self._send(operation.label, plan, way) for way in plan.ways]
            assume(all(answered))

        send_in_all_ways()

    def _send(self, label: str, plan: Plan, way: Way) -> bool:
        """Sends a request and checks its answer; false if it cannot be put on the wire at all."""
        try:
            request = request_of(plan, way, self.subjects, self._document)
        except UnicodeEncodeError:
            return False
        try:
            answer = self.subjects.author.api.send(request)
        except httpx.LocalProtocolError:
            return False
        except httpx.TransportError as error:
            self.report.blame(f"{label} was not answered: {type(error).__name__}", request, str(error))
            return True
        self.report.statuses[label][answer.status_code] += 1
        if complaint := self._complaint(answer):
            answered = f"{answer.status_code} {dict(answer.headers)} {answer.text[:500]}"
            self.report.blame(f"{label} answered {answer.status_code}: {complaint}", request, answered)
        else:
            self.subjects.learn(answer)
        return True

    def _complaint(self, answer: httpx.Response) -> str | None:
        """The fault of an answer, if there is one."""
        if answer.is_server_error:
            return "the service itself failed"
        if answer.status_code == 429:
            return "a limit was reached; raise it in tests/harness/roomy.py"
        try:
            self._documented.check(answer)
        except Exception as error:  # answers can be wrong in every way
            return _first_line(error)
        return None


def _first_line(error: Exception) -> str:
    """The message of an error, else the line of code that raised it."""
    said, *_ = str(error).splitlines() or [str(traceback.extract_tb(error.__traceback__)[-1].line)]
    return f"{type(error).__name__}: {said[:200]}"
