"""The model of lessons 6 and 8: a decoder-only transformer of GPT-2's architecture (Radford et al. 2019), and its three
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
    def __init__(self, g, sizes, seed=0):
        self.g, self.sizes, self.seed = g, sizes, seed
        self.deviation = 0.02 * math.sqrt(768 / sizes.width)  # GPT-2's at its width
        self.matrices, self.vectors = [], []
        self.tokens_table = self.matrix("wte.weight", (sizes.vocabulary, sizes.width))
        self.positions_table = self.matrix("wpe.weight", (sizes.context, sizes.width))

    def logits(self, tokens, places, attend):
        """tokens: [batch, length]; places: [length, width]; result: [batch * length, vocabulary]."""
        self.batch = tokens.shape[0]
        x = (dfc.embedding(self.tokens_table, tokens) + places).reshape(-1, self.sizes.width)
        for i in range(self.sizes.layers):
            layer = f"h.{i}"
            with self.g.scope(layer):
                x = x + self.attention(layer + ".attn", self.norm(layer + ".ln_1", x), attend)
                x = x + self.perceptron(layer + ".mlp", self.norm(layer + ".ln_2", x))
        with self.g.scope("head"):
            return dfc.matmul(self.norm("ln_f", x), self.tokens_table, transpose_b=True)

    def minimise(self, loss, training):
        """One step of AdamW on everything that `logits` has used."""
        d = dfc.gradients(loss, self.matrices + self.vectors)
        border = len(self.matrices)
        with self.g.scope("adam"):
            dfc.adam(self.vectors, d[border:], training.rate, beta2=training.beta2)
            dfc.adam(self.matrices, d[:border], training.rate, beta2=training.beta2, weight_decay=training.decay)

    def matrix(self, name, shape, factor=1.0):
        start = dfc.init.normal(0, factor * self.deviation, self.seed * 1000 + len(self.matrices))
        self.matrices.append(self.g.parameter(name, shape, start))
        return self.matrices[-1]

    def vector(self, name, length, start):
        self.vectors.append(self.g.parameter(name, length, start))
        return self.vectors[-1]

    def norm(self, name, x):
        return dfc.layer_norm(x, self.vector(name + ".weight", self.sizes.width, 1),
                              self.vector(name + ".bias", self.sizes.width, 0))

    def linear(self, name, x, to, factor=1.0):
        w = self.matrix(name + ".weight", (x.shape[1], to), factor)
        return x @ w + self.vector(name + ".bias", to, 0)

    def projection(self, name, x):
        """Added to the residual stream: the sum of all is to begin at a deviation that does not grow with their number."""
        return self.linear(name, x, self.sizes.width, 1 / math.sqrt(2 * self.sizes.layers))

    def attention(self, name, x, attend):
        q, k, v = dfc.split(self.linear(name + ".c_attn", x, 3 * self.sizes.width), 3, axis=1)
        return self.projection(name + ".c_proj", self.joined(attend(name, *map(self.heads, (q, k, v)))))

    def perceptron(self, name, x):
        hidden = dfc.gelu(self.linear(name + ".c_fc", x, 4 * self.sizes.width), approximate=True)
        return self.projection(name + ".c_proj", hidden)

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
    model = Model(g, sizes)
    tokens = g.input("tokens", (batch, sizes.context), dfc.int64)
    g.fetch("logits", model.logits(tokens, model.positions_table, causal))
    return g.finish()


def sampling_step(sizes):
    """One token of a growing text: feeds "token" int64 [1, 1] and its "position"; fetches "logits" [vocabulary] of the
    one that follows. The caches are parameters: they keep what the earlier positions gave attention."""
    g = dfc.Builder("gpt sampling")
    model = Model(g, sizes)
    token = g.input("token", (1, 1), dfc.int64)
    position = g.input("position", (), dfc.int64)
    here = g.iota((sizes.context, 1), dfc.int64, axis=0) == position
    visible = g.iota((1, sizes.context), dfc.int64, axis=1) <= position

    def remembered(name, row):
        cache = g.parameter(name, (1, sizes.heads, sizes.context, sizes.width // sizes.heads))
        return g.assign(cache, dfc.where(here, row, cache))

    def over_cache(layer, q, k, v):
        return dfc.attention(q, remembered(layer + ".keys", k), remembered(layer + ".values", v), mask=visible)

    place = dfc.embedding(model.positions_table, position)
    g.fetch("logits", model.logits(token, place, over_cache).reshape(sizes.vocabulary))
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
