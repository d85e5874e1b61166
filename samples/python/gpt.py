"""The model of lessons 6 and 8: a decoder-only transformer of GPT-2's architecture (Radford et al. 2019), and its
graphs. Written for one device, without a pin. Parameters have the names of GPT-2's published weights."""

import math
from dataclasses import dataclass

import numpy as np

import dfc

USUAL_TEXT = "/usr/share/common-licenses/GPL-3"


@dataclass(frozen=True)
class Sizes:
    layers: int = 2
    heads: int = 4
    width: int = 64
    context: int = 64
    vocabulary: int = 256


@dataclass(frozen=True)
class Training:
    batch: int = 16
    rate: float = 4e-3  # AdamW's
    decay: float = 0.1  # of matrices alone
    beta2: float = 0.99
    seed: int = 1


class Model:
    def __init__(self, g, sizes, seed=0, training=True):
        self.g, self.sizes, self.net = g, sizes, dfc.Layers(g, training=training, seed=seed)
        self.tokens_table = self.net.parameter("wte.weight", (sizes.vocabulary, sizes.width), self.normal())
        self.positions_table = self.net.parameter("wpe.weight", (sizes.context, sizes.width), self.normal())

    def logits(self, tokens, places, attend):
        """tokens: [batch, length]; places: [length, width]; result: [batch * length, vocabulary]."""
        self.batch = tokens.shape[0]
        x = (dfc.embedding(self.tokens_table, tokens) + places).reshape(-1, self.sizes.width)
        for i in range(self.sizes.layers):
            layer = f"h.{i}"
            with self.g.scope(layer):
                x = x + self.attention(layer + ".attn", self.net.layer_norm(layer + ".ln_1", x), attend)
                x = x + self.perceptron(layer + ".mlp", self.net.layer_norm(layer + ".ln_2", x))
        with self.g.scope("head"):
            return dfc.matmul(self.net.layer_norm("ln_f", x), self.tokens_table, transpose_b=True)

    def minimise(self, loss, training):
        """One step of AdamW on everything that `logits` has used; vectors do not decay."""
        parameters = self.net.trained
        with self.g.scope("adam"):
            dfc.adam(parameters, dfc.gradients(loss, parameters), training.rate, beta2=training.beta2,
                     weight_decay=training.decay, no_decay=["*.bias", "*ln_*.weight"])

    def normal(self, factor=1.0):
        """GPT-2's deviation, 0.02 at its width, so that other widths begin alike."""
        return dfc.init.normal(0, factor * 0.02 * math.sqrt(768 / self.sizes.width), self.net.next_seed())

    def projection(self, name, x):
        """Added to the residual stream: the sum of all is to begin at a deviation that does not grow with their number."""
        return self.net.linear(name, x, self.sizes.width, init=self.normal(1 / math.sqrt(2 * self.sizes.layers)))

    def attention(self, name, x, attend):
        together = self.net.linear(name + ".c_attn", x, 3 * self.sizes.width, init=self.normal())
        q, k, v = map(self.heads, dfc.split(together, 3, axis=1))
        return self.projection(name + ".c_proj", self.joined(attend(name, q, k, v)))

    def perceptron(self, name, x):
        hidden = self.net.linear(name + ".c_fc", x, 4 * self.sizes.width, init=self.normal())
        return self.projection(name + ".c_proj", dfc.gelu(hidden, approximate=True))

    def heads(self, x):
        heads = self.sizes.heads
        return x.reshape(self.batch, -1, heads, self.sizes.width // heads).transpose(0, 2, 1, 3)

    def joined(self, x):
        return x.transpose(0, 2, 1, 3).reshape(-1, self.sizes.width)


def causal(_layer, q, k, v):
    return dfc.attention(q, k, v, causal=True)


def training_step(sizes, training):
    """Feeds "tokens" int64 [batch, context + 1]; fetches "loss"."""
    g = dfc.Builder("gpt training")
    model = Model(g, sizes, training.seed)
    windows = g.input("tokens", (training.batch, sizes.context + 1), dfc.int64)
    seen, following = windows[:, :-1], windows[:, 1:]
    logits = model.logits(seen, model.positions_table, causal)
    loss = dfc.softmax_cross_entropy(logits, following.reshape(-1))
    model.minimise(loss, training)
    g.fetch("loss", loss)
    return g.finish()


def forward_pass(sizes, batch=1):
    """Feeds "tokens" int64 [batch, context]; fetches "logits" [batch * context, vocabulary]."""
    g = dfc.Builder("gpt forward")
    model = Model(g, sizes, training=False)
    tokens = g.input("tokens", (batch, sizes.context), dfc.int64)
    g.fetch("logits", model.logits(tokens, model.positions_table, causal))
    return g.finish()


def cached_logits(g, sizes, tokens, position):
    """Of tokens [1, length] from this position of their text on, with the keys and values of those before in caches,
    which are parameters."""
    model = Model(g, sizes, training=False)

    def over_cache(layer, q, k, v):
        cache = dfc.KvCache(g, layer, heads=sizes.heads, rows=sizes.context, width=sizes.width // sizes.heads)
        return cache.attend(q, k, v, position)

    places = dfc.dynamic_slice(model.positions_table, position, tokens.shape[1], 0)
    return model.logits(tokens, places, over_cache)


def prompt_step(sizes, length):
    """The beginning of a text: feeds "tokens" int64 [1, length] and their "position"; fetches "logits" [length,
    vocabulary] of those that follow each. The caches keep what attention is given."""
    g = dfc.Builder("gpt prompt")
    tokens, position = g.input("tokens", (1, length), dfc.int64), g.input("position", (), dfc.int64)
    g.fetch("logits", cached_logits(g, sizes, tokens, position))
    return g.finish()


def decoding_step(sizes, temperature=0.7, seed=1):
    """One token more, without a feed: reads "decoding.token" at "decoding.position", draws the next one from
    softmax(logits / temperature), fetches it as "token" [1], and leaves it in "decoding.token"."""
    g = dfc.Builder("gpt decoding")
    token = g.parameter("decoding.token", (1, 1), dtype=dfc.int64)
    position = dfc.counted_position(g, "decoding.position", 1)
    logits = cached_logits(g, sizes, token, position)
    following = dfc.categorical(logits / temperature, g.step(), seed)
    g.assign(token, following.reshape(1, 1))
    g.fetch("token", following)
    return g.finish()


def read_text(path=USUAL_TEXT):
    """The bytes of a text as tokens."""
    with open(path, "rb") as file:
        return np.frombuffer(file.read(), np.uint8).astype(np.int64)


def windows(text, batch, length, random):
    """[batch, length], from places that `random` draws."""
    starts = random.integers(0, len(text) - length + 1, batch)
    return np.stack([text[start:start + length] for start in starts])


def train(session, text, sizes, training, steps, report=False):
    """The loss of each step, read when the next is on its way. The same arguments draw the same windows."""
    random = np.random.default_rng(training.seed)
    losses, under_way = [], None
    for step in range(steps):
        submitted = session.submit({"tokens": windows(text, training.batch, sizes.context + 1, random)})
        if under_way is not None:
            losses.append(float(under_way.wait("loss")))
            if report and step % max(1, steps // 10) == 0:
                print(f"step {step:5}: loss {losses[-1]:.4f}", flush=True)
        under_way = submitted
    losses.append(float(under_way.wait("loss")))
    return losses
