"""Lesson 6: a small GPT: trained on the bytes of a text, checked and sampled with a cache of keys and values.

    python lesson_06_gpt.py [--steps N] [--sample N] [--text FILE]
"""

import argparse

import numpy as np

import dfc
import gpt


def open_with(trained, graph):
    """A session with the weights of a training; what its own steps assign starts afresh."""
    session = dfc.open(graph, policy="single")
    session.set_state({row.name: trained[row.name] for row in session.parameters if not row.assigned})
    return session


class Sampler:
    """Reads and writes a text token by token."""

    def __init__(self, session):
        self.session, self.position = session, 0

    def append(self, token):
        """The logits of the token that follows."""
        logits = self.session.run({"token": [[token]], "position": self.position})["logits"]
        self.position += 1
        return logits


def draw(logits, temperature, random):
    weights = np.exp((logits.astype(np.float64) - logits.max()) / temperature)
    return int(random.choice(len(logits), p=weights / weights.sum()))


def main():
    parser = argparse.ArgumentParser(description="train a small GPT on the bytes of a text, and let it write on")
    parser.add_argument("--steps", type=int, default=600, help="of training")
    parser.add_argument("--sample", type=int, default=32, help="tokens to draw in the end, 32 at most")
    parser.add_argument("--text", default=gpt.USUAL_TEXT, help="what to learn")
    arguments = parser.parse_args()
    sizes, training = gpt.Sizes(), gpt.Training()
    text = gpt.read_text(arguments.text)

    trainer = dfc.open(gpt.training_step(sizes, training), policy="single")
    losses = gpt.train(trainer, text, sizes, training, arguments.steps, report=True)
    print(f"loss: {losses[0]:.3f} at first, {losses[-1]:.3f} in the end")
    assert losses[-1] < losses[0], "the model learns"
    trained = trainer.state()

    # With the cache, the logits are those of one forward pass over the window.
    window = text[:sizes.context]
    whole = open_with(trained, gpt.forward_pass(sizes)).run({"tokens": window[None]})["logits"]
    session = open_with(trained, gpt.sampling_step(sizes))
    reader = Sampler(session)
    miss = max(np.abs(reader.append(token) - row).max() for token, row in zip(window, whole))
    print(f"logits are up to {np.abs(whole).max():.3f}; token by token they differ by {miss:.2g} at most")
    assert miss <= 1e-4 * max(np.abs(whole).max(), 1), "the cache gives what the forward pass gives"

    random, writer, drawn = np.random.default_rng(training.seed), Sampler(session), []
    for token in window[:sizes.context // 2]:
        logits = writer.append(token)
    for _ in range(min(arguments.sample, sizes.context // 2)):
        drawn.append(draw(logits, 0.7, random))
        logits = writer.append(drawn[-1]) if writer.position < sizes.context else logits
    print(bytes(drawn).decode("latin1"))


if __name__ == "__main__":
    main()
