"""Chromium without a window, driven over a pipe by its DevTools protocol: one tab, scripts, mouse, keys, pictures.

Needs nothing but the browser and Python's own library. `find()` gives the program, or None.
"""

import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """The path of a Chromium or Chrome, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"):
        path = shutil.which(name)
        if path and not (name == "chromium-browser" and "snap" in os.path.realpath(path)):
            return path
    return None


class Browser:
    """A browser with one tab. Used as a context; ends its own process."""

    def __init__(self, program, patience=60):
        self.patience = patience
        self.folder = tempfile.mkdtemp(prefix="dfc-page-")
        ours, theirs = os.pipe(), os.pipe()  # we read ours[0]; the browser reads theirs[0]
        self.reads, self.writes = ours[0], theirs[1]

        def place_pipes():  # the browser reads descriptor 3 and writes descriptor 4
            end_in, end_out = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs[0], ours[1]))
            os.dup2(end_in, 3)
            os.dup2(end_out, 4)

        words = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--hide-scrollbars", "--remote-debugging-pipe", "--force-color-profile=srgb",
                 f"--user-data-dir={self.folder}", "about:blank"]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=place_pipes)
        os.close(theirs[0])
        os.close(ours[1])
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.reads)
        os.close(self.writes)
        shutil.rmtree(self.folder, ignore_errors=True)

    def read(self):
        end = time.monotonic() + self.patience
        while b"\0" not in self.buffer:
            if not select.select([self.reads], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.reads, 1 << 20)
            if not more:
                raise ConnectionError("the browser has ended")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        """The answer to a method of the protocol; events that come before it are kept in `events`."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writes, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def run(self, script):
        """The value of a script; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails'].get('exception', answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def size(self, width, height, dark=False, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if mobile else 1,
                  mobile=mobile)
        self.call("Emulation.setTouchEmulationEnabled", enabled=mobile)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path, ready="document.documentElement?.dataset.ready === 'yes'"):
        """Opens a file; seconds until it says that it is ready."""
        self.events.clear()
        begin = time.monotonic()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while not self.run(ready):
            if time.monotonic() > begin + self.patience:
                raise TimeoutError(f"{path} is not ready")
            time.sleep(0.01)
        return time.monotonic() - begin

    def complaints(self):
        """Errors of scripts and of the console since the page was opened, and all requests but that for the file."""
        said = []
        for event in self.events:
            if event["method"] == "Runtime.exceptionThrown":
                said.append(json.dumps(event["params"]["exceptionDetails"])[:600])
            elif event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                said.append(event["params"]["entry"]["text"])
            elif event["method"] == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                if not url.startswith(("file:", "data:")):
                    said.append("asked for " + url)
        return said

    def frame(self):
        """Waits until what was asked for is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def picture(self, path, whole=False):
        self.frame()
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(answer["data"]))

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, times=1):
        for number in range(1, times + 1):
            self.mouse("mousePressed", x, y, button="left", clickCount=number)
            self.mouse("mouseReleased", x, y, button="left", clickCount=number)
        self.frame()

    def drag(self, start, end, modifiers=0):
        self.mouse("mousePressed", *start, button="left", clickCount=1, modifiers=modifiers)
        for part in range(1, 6):
            self.mouse("mouseMoved", *(a + (b - a) * part / 5 for a, b in zip(start, end)), button="left", buttons=1,
                       modifiers=modifiers)
        self.mouse("mouseReleased", *end, button="left", clickCount=1, modifiers=modifiers)
        self.frame()

    def wheel(self, x, y, by):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=by)
        self.frame()

    def touch(self, kind, *points):
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])

    def key(self, name, text=None):
        more = {"text": text or name} if len(text or name) == 1 else {}
        if name == "Enter":
            more = {"text": "\r", "windowsVirtualKeyCode": 13}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name)
        self.frame()
