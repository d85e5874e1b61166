"""Lesson 9: tasks of your own under dfc's schedules. The tiled Cholesky factorisation a = L Lᵀ (Buttari, Langou, Kurzak and
Dongarra 2009) is a graph of four kinds of task on tiles, each a function of Python that a custom op calls. dfc knows their
types and their seconds on each kind of device; it places them over a CPU and two GPUs, copies tiles, and orders
everything. The GPUs are emulated, so that they call the same functions.

    python lesson_09_cholesky.py [--tiles N] [--rows N]
"""

import argparse
from collections import Counter

import numpy as np

import dfc


def potrf(operands, results):
    results[0][:] = np.linalg.cholesky(operands[0])


def trsm(operands, results):
    results[0][:] = np.linalg.solve(operands[1], operands[0].T).T


def syrk(operands, results):
    results[0][:] = operands[0] - operands[1] @ operands[1].T


def gemm(operands, results):
    results[0][:] = operands[0] - operands[1] @ operands[2].T


FUNCTIONS = {"potrf": potrf, "trsm": trsm, "syrk": syrk, "gemm": gemm}
# Operations, times the cube of a tile's rows, and how many a second on one core and on a GPU: small factorisations are
# slow on GPUs, products are fast.
RATES = {"potrf": (1 / 3, 8e9, 1e9), "trsm": (1, 8e9, 60e9), "syrk": (2, 10e9, 200e9), "gemm": (2, 10e9, 200e9)}


def run(function, *operands):
    operations, cpu_rate, gpu_rate = RATES[function]
    work = operations * operands[0].shape[0] ** 3
    (result,) = dfc.custom(operands, function=function, results=[(operands[0].shape, dfc.float64)],
                           cpu_seconds=work / cpu_rate, gpu_seconds=work / gpu_rate, pure=True)
    return result


def cholesky(tiles, rows):
    g = dfc.Builder("cholesky")
    a = [[g.input(f"a{i}.{j}", (rows, rows), dfc.float64) for j in range(i + 1)] for i in range(tiles)]
    for k in range(tiles):
        a[k][k] = run("potrf", a[k][k])
        for i in range(k + 1, tiles):
            a[i][k] = run("trsm", a[i][k], a[k][k])
        for i in range(k + 1, tiles):
            a[i][i] = run("syrk", a[i][i], a[i][k])
            for j in range(k + 1, i):
                a[i][j] = run("gemm", a[i][j], a[i][k], a[j][k])
    for i, row in enumerate(a):
        for j, tile in enumerate(row):
            g.fetch(f"l{i}.{j}", tile)
    return g.finish()


def main():
    parser = argparse.ArgumentParser(description="a tiled Cholesky factorisation over a CPU and two GPUs")
    parser.add_argument("--tiles", type=int, default=6, help="rows of tiles of the matrix")
    parser.add_argument("--rows", type=int, default=64, help="rows of a tile")
    arguments = parser.parse_args()
    tiles, rows = arguments.tiles, arguments.rows

    graph = cholesky(tiles, rows)
    plan = dfc.compile(graph, "cpu-2gpu")
    alone = dfc.compile(graph, "cpu-2gpu", policy="single")
    print("tasks:", dict(Counter(step.device for step in plan.steps if step.kind == "custom")))
    print(f"predicted {plan.predicted_seconds * 1e6:.0f} us over all devices, {alone.predicted_seconds * 1e6:.0f} us on one")
    assert plan.lower_bound_seconds <= plan.predicted_seconds * (1 + 1e-9)
    assert plan.predicted_seconds <= alone.predicted_seconds, "no device alone is faster"

    b = np.random.default_rng(1).random((tiles * rows, tiles * rows))
    matrix = b @ b.T + tiles * rows * np.eye(tiles * rows)
    session = dfc.Session(plan, gpu_backend="emulated", functions=FUNCTIONS)
    where = {(i, j): np.s_[i * rows:(i + 1) * rows, j * rows:(j + 1) * rows] for i in range(tiles) for j in range(i + 1)}
    factor = session.run({f"a{i}.{j}": matrix[place] for (i, j), place in where.items()})
    expected = np.linalg.cholesky(matrix)
    difference = max(np.abs(factor[f"l{i}.{j}"] - expected[place]).max() for (i, j), place in where.items())
    print(f"largest difference from NumPy's factorisation: {difference:.2g}")
    assert difference < 1e-9


if __name__ == "__main__":
    main()
