# SPDX-License-Identifier: Apache-2.0
"""Opens pages in a headless Chromium, by the DevTools protocol over a pipe.

    with Browser() as browser:
        page = browser.open("/tmp/report.html", width=1000)
        page.value("document.title")
        page.errors  # messages of the console, and exceptions
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"]
DEADLINE = 60  # seconds for an answer


def command():
    """The path of the browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Failed(Exception):
    """The browser ended, is silent, or a script threw."""


class Browser:
    """A running browser."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="lightnet-browser-")
        to_read, self.out = os.pipe()
        self.into, to_write = os.pipe()
        self.number = 0
        self.buffer = b""
        self.pages = {}
        # Its own pipes are the descriptors 3 and 4; copies above these survive the moves.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]

        def move():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.process = subprocess.Popen(
                [command(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--hide-scrollbars",
                 f"--user-data-dir={self.folder}/profile", "--no-first-run", "--disable-background-networking", "about:blank"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=move, pass_fds=(3, 4, *ends))
        for end in (to_read, to_write, *ends):
            os.close(end)

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.into)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, session=None, **params):
        """Sends a command and returns its result; events until then go to their pages."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + DEADLINE
        while True:
            answer = self._next(end, method)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']}")
                return answer["result"]
            if answer.get("sessionId") in self.pages:
                self.pages[answer["sessionId"]].note(answer)

    def _next(self, end, method):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(0, end - time.monotonic()))
            data = os.read(self.into, 1 << 16) if ready else b""
            if not data:
                raise Failed(f"{method}: no answer from the browser")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def open(self, path, width, height=900, dark=False):
        """A page of that size, of a file or a URL, loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session, target)
        page.call("Runtime.enable")
        page.call("Log.enable")
        page.call("Page.enable")
        page.call("Network.enable")
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        page.call("Page.navigate", url=path if "://" in path else "file://" + os.path.abspath(path))
        page.wait("document.readyState === 'complete'")
        page.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        return page

    def close_pages(self):
        for page in list(self.pages.values()):
            page.close()


class Page:
    """A loaded page, with the errors so far."""

    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target
        self.errors = []
        self.requests = []

    def note(self, event):
        method, params = event["method"], event["params"]
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.errors.append(str(params["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def value(self, expression):
        """The value of an expression, which may be a promise."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise Failed(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def wait(self, expression):
        end = time.monotonic() + DEADLINE
        while not self.value(expression):
            if time.monotonic() > end:
                raise Failed(f"{expression}: still false")
            time.sleep(0.02)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path, whole=True):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **({"clip": clip} if whole else {}))
        with open(path, "wb") as file:
            file.write(base64.b64decode(data["data"]))

    def close(self):
        """Ends the page, whose process would go on to draw."""
        self.browser.call("Target.closeTarget", targetId=self.target)
        del self.browser.pages[self.session]
