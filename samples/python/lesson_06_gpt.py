"""Lesson 6: a small GPT: trained on the bytes of a text, checked and sampled with a cache of keys and values.

    python lesson_06_gpt.py [--steps N] [--sample N] [--text FILE]
"""

import argparse

import numpy as np

import dfc
import gpt


def opened(graph, session):
    """A session over the state of another."""
    return dfc.open(graph, policy="single", session={"state": session})


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

    # Plans of several lengths work on the trainer's weights, without a copy, and on one set of caches. A prompt in two
    # steps gives the logits of one forward pass over the window.
    window, half = text[:sizes.context], sizes.context // 2
    forward = opened(gpt.forward_pass(sizes), trainer)
    whole = forward.run({"tokens": window[None]})["logits"]
    reader = opened(gpt.prompt_step(sizes, half), trainer)
    parts = [reader.run({"tokens": window[None, at:at + half], "position": at})["logits"] for at in (0, half)]
    miss = np.abs(np.concatenate(parts) - whole).max()
    print(f"logits are up to {np.abs(whole).max():.3f}; by the cache they differ by {miss:.2g} at most")
    assert miss <= 1e-4 * max(np.abs(whole).max(), 1), "the cache gives what the forward pass gives"

    # The prompt's plan reads half a window; the decoder's draws what follows, token by token.
    decoder = opened(gpt.decoding_step(sizes), reader)
    reader.run({"tokens": window[None, :half], "position": 0})
    decoder.set_state({"decoding.token": window[None, half:half + 1], "decoding.position": half})
    drawn = [int(decoder.run()["token"][0]) for _ in range(min(arguments.sample, half))]
    print(bytes(drawn).decode("latin1"))


if __name__ == "__main__":
    main()
