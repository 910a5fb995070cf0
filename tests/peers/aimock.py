"""npm's @copilotkit/aimock as a process: it answers as OpenAI's and as Anthropic's API do, by fixtures that a test gives it."""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

from .npm import program

KEY = "sk-test-0123456789"


class Aimock:
    """`url`: of the server, without a path. It wants KEY."""

    def __init__(self, folder: Path) -> None:
        command = program("@copilotkit/aimock/dist/cli.js")
        log = folder / "log"
        fixtures = folder / "fixtures"
        fixtures.mkdir()
        (fixtures / "none.json").write_text('{"fixtures": [{"match": {"userMessage": "nobody says this"}, "response": {"content": "?"}}]}')
        with log.open("wb") as out:
            words = ["--port", "0", "--strict", "--fixtures", str(fixtures)]
            self._process = subprocess.Popen(
                [*command, *words], stdout=out, stderr=out, stdin=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin", "AIMOCK_API_KEYS": KEY}
            )
        self.url = self._listening(log)

    def _listening(self, log: Path) -> str:
        end = time.monotonic() + 30
        while time.monotonic() < end and self._process.poll() is None:
            if found := re.search(r"listening on (\S+)", log.read_text()):
                return found[1]
            time.sleep(0.02)
        raise AssertionError(f"aimock did not begin to listen: {log.read_text()}")

    def __enter__(self) -> Aimock:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def reset(self) -> None:
        self._call("POST", "reset")
        self._call("DELETE", "chaos")

    def answers(self, *responses: dict[str, Any]) -> None:
        """The n-th request gets the n-th of these: {"toolCalls": [...]}, {"content": "..."} or {"error": {...}, "status": 429}."""
        fixtures = [{"match": {"userMessage": "/.*/", "sequenceIndex": at}, "response": each} for at, each in enumerate(responses)]
        for fixture in fixtures:
            del fixture["match"]["userMessage"]
        self._call("POST", "fixtures", {"fixtures": fixtures})

    def chaos(self, **rates: float) -> None:
        self._call("POST", "chaos", rates)

    def requests(self) -> list[dict[str, Any]]:
        """The bodies that came in, as it understood them (Anthropic's as OpenAI's)."""
        return [entry["body"] for entry in self._call("GET", "journal") if entry["path"].startswith("/v1/")]

    def journal(self) -> Any:
        return self._call("GET", "journal")

    def _call(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
        request = urllib.request.Request(f"{self.url}/__aimock/{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"null")
