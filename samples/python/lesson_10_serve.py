"""Lesson 10: serving. Many clients ask for one row each; servers form batches on the fly and run one plan of a fixed batch
by one session, which all threads share. A batch starts when it is full, or when its oldest request has waited long enough;
a request whose deadline has passed is turned away instead of computed. Steps run without the interpreter's lock.

    python lesson_10_serve.py [--clients N] [--requests N] [--patience MICROSECONDS]
"""

import argparse
import threading
import time
from collections import Counter, deque
from concurrent.futures import Future
from functools import partial

import numpy as np

import dfc

BATCH, WIDTH, CLASSES, DISTINCT_ROWS = 16, 64, 10, 32


def classifier():
    """The class of each row of a batch."""
    g = dfc.Builder("classifier")
    net = dfc.Layers(g, training=False, seed=1)
    hidden = dfc.relu(net.linear("fc1", g.input("x", (BATCH, WIDTH)), 256))
    g.fetch("class", dfc.argmax(net.linear("fc2", hidden, CLASSES), axis=1))
    return g.finish()


def row_of(number):
    """Row `number` of those that clients ask about."""
    i = np.arange(WIDTH)
    return ((number * 37 + i * i * 11) % 19 - 9) / 9


def classes_of(session, rows):
    """The class of each of the rows, by one step. Places without a row are zeros."""
    x = dfc.empty((BATCH, WIDTH))
    for place, row in enumerate(rows):
        x[place] = row_of(row)
    return session.run({"x": x})["class"][:len(rows)].tolist()


class Server:
    """Requests as they come, taken away in batches by any number of threads."""

    def __init__(self, session, patience):
        self.session, self.patience, self.steps = session, patience, 0
        self.waiting, self.changed, self.closed = deque(), threading.Condition(), False

    def ask(self, row, deadline):
        """The row's class, in the future; None for one that is turned away."""
        answer = Future()
        with self.changed:
            self.waiting.append((row, time.monotonic(), deadline, answer))
            self.changed.notify_all()
        return answer

    def serve(self):
        """Answers until `close`, on the caller's thread."""
        while requests := self.next_batch():
            self.answer(requests)

    def close(self):
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def next_batch(self):
        """Empty when the server is closed and nothing waits."""
        with self.changed:
            while True:
                self.changed.wait_for(lambda: self.closed or self.waiting)
                if self.waiting:
                    left = self.waiting[0][1] + self.patience - time.monotonic()
                    self.changed.wait_for(lambda: self.closed or not 0 < len(self.waiting) < BATCH, max(0, left))
                taken = [self.waiting.popleft() for _ in range(min(BATCH, len(self.waiting)))]
                if taken or self.closed:  # else another server was quicker
                    return taken

    def answer(self, requests):
        now = time.monotonic()
        timely = [(row, answer) for row, _, deadline, answer in requests if deadline >= now]
        if timely:
            found = classes_of(self.session, [row for row, _ in timely])
            with self.changed:
                self.steps += 1
            for (_, answer), one in zip(timely, found):
                answer.set_result(one)
        for _, _, deadline, answer in requests:
            if deadline < now:
                answer.set_result(None)


def ask_all(server, client, requests, outcomes, latencies):
    """One client: a request at a time, each with a deadline."""
    for i in range(requests):
        row, begin = (client * 7 + i) % DISTINCT_ROWS, time.monotonic()
        found = server.ask(row, begin + 5).result()
        latencies.append(time.monotonic() - begin)
        outcomes.append((row, found))


def started(functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    return threads


def main():
    parser = argparse.ArgumentParser(description="many threads, one plan, batches formed on the fly")
    parser.add_argument("--clients", type=int, default=8, help="threads that ask")
    parser.add_argument("--requests", type=int, default=300, help="of each client")
    parser.add_argument("--patience", type=int, default=200, help="microseconds that a request waits for its batch to fill")
    arguments = parser.parse_args()
    session = dfc.open(classifier())
    wanted = [classes_of(session, [row])[0] for row in range(DISTINCT_ROWS)]  # alone in its batch

    server, outcomes, latencies = Server(session, arguments.patience * 1e-6), [], []
    servers = started([server.serve] * 2)  # one forms a batch while the other's step runs
    begin = time.monotonic()
    for thread in started(partial(ask_all, server, client, arguments.requests, outcomes, latencies)
                          for client in range(arguments.clients)):
        thread.join()
    seconds = time.monotonic() - begin
    turned_away = server.ask(0, time.monotonic() - 1).result() is None
    server.close()
    for thread in servers:
        thread.join()

    count = arguments.clients * arguments.requests
    print(f"{count} requests in {seconds:.3f} s: {count / seconds:.0f} a second, {count / server.steps:.1f} in a step on average")
    for bucket, found in sorted(Counter(int(latency * 1e6).bit_length() for latency in latencies).items()):
        print(f"  below {2 ** bucket:7} us: {found:6}")
    assert len(outcomes) == count and all(found in (None, wanted[row]) for row, found in outcomes), \
        "every answer is the one that its row gets alone"
    assert turned_away, "a request whose deadline has passed is turned away"


if __name__ == "__main__":
    main()
