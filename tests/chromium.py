"""A real headless Chromium, spoken to over its debugging pipe: nothing to install beside the browser."""

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe")
END = b"\0"
# The browser reads commands from 3 and answers on 4; what came with those numbers is out of the way first.
START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for end, number in zip(ends, (3, 4)):
    os.dup2(end, number)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One window with one page."""

    def __init__(self, to: int, answers: int) -> None:
        self.to, self.answers, self.rest, self.said = to, answers, b"", 0
        self.events: list[dict] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for name in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{name}.enable")

    session: str | None = None

    def _read(self) -> dict:
        while END not in self.rest:
            more = os.read(self.answers, 1 << 16)
            assert more, "the browser has closed its pipe"
            self.rest += more
        one, self.rest = self.rest.split(END, 1)
        return json.loads(one)

    def ask(self, method: str, **parameters: object) -> dict:
        """What the browser answers to one command; events that come before are kept."""
        self.said += 1
        session = {"sessionId": self.session} if self.session else {}
        os.write(self.to, json.dumps({"id": self.said, "method": method, "params": parameters, **session}).encode() + END)
        while (answer := self._read()).get("id") != self.said:
            self.events.append(answer)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def open(self, page: Path, width: int = 1280, dark: bool = False, media: str = "") -> None:
        """Show a file at a width, in light or dark, for the screen or for print."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.events.clear()
        self.ask("Page.navigate", url=page.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())

    def run(self, script: str) -> object:
        """The value of a JavaScript expression in the page."""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def picture(self) -> bytes:
        """The whole page as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def printed(self) -> bytes:
        """The page on paper, as PDF."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=False, preferCSSPageSize=True)["data"])

    def spoken(self) -> list[tuple[str, str]]:
        """(role, name) of what a screen reader finds."""
        nodes = self.ask("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")]


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser with a profile of its own, ended with the test."""
    assert PROGRAM
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    started = subprocess.Popen(
        [sys.executable, "-c", START, str(to_read), str(from_write), PROGRAM, *OPTIONS, f"--user-data-dir={profile}"],
        pass_fds=(to_read, from_write),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_read)
    os.close(from_write)
    try:
        yield Browser(to_write, from_read)
    finally:
        started.terminate()
        started.wait(20)
        os.close(to_write)
        os.close(from_read)
