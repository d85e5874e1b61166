"""Lesson 1: the smallest graph, z = x * y + 2.

A graph is written like NumPy, compiled once for a machine, and run as often as you like. Nothing is computed while it is
written: `z` below is a value of the graph, not a number.
"""

import numpy as np

import dfc


def main():
    g = dfc.Builder("smallest")
    x = g.input("x", 3)
    y = g.input("y", 3)
    z = x * y + 2
    g.fetch("z", z)

    plan = dfc.compile(g.finish(), "cpu")
    session = dfc.Session(plan)
    result = session.run({"x": np.array([1, 2, 3], np.float32), "y": np.array([10, 20, 30], np.float32)})

    print("z =", result["z"])
    assert result["z"].tolist() == [12, 42, 92], "z is x * y + 2"  # 1*10 + 2, 2*20 + 2, 3*30 + 2


if __name__ == "__main__":
    main()
