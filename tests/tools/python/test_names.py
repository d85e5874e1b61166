"""Every function of the C++ DSL has its name in Python: a new one that is forgotten fails here."""

import re

import dfc
from dfc import _core

# C++ name: Python's, where it is not the same in snake_case.
NUMPY = {"abs": "absolute", "max": "maximum", "min": "minimum", "pow": "power", "cast": "astype", "compare": "equal",
         "select": "where", "reduceSum": "sum", "reduceMean": "mean", "reduceMax": "max", "reduceMin": "min",
         "reduceProduct": "prod", "cumSum": "cumsum", "argMax": "argmax", "broadcast": "broadcast_to",
         "concat": "concatenate", "trilu": "tril", "iota": "arange"}
HEADERS = ("dsl", "composites", "optimizers", "collectives", "gradients", "custom", "kv_cache", "schedules")
FUNCTION = re.compile(r"^(?:Tensor|std::vector<Tensor>|TopK|Normalised) (\w+)\(", re.MULTILINE)


def snake(name):
    return re.sub(r"([A-Z])", r"_\1", name).lower()


def test_every_function_of_the_headers(root):
    names = [name for header in HEADERS for name in FUNCTION.findall((root / f"ir/author/{header}.h").read_text())]
    names = [name for name in names if not name.startswith("operator")]
    assert len(names) > 50, "the headers are not read as they are written"
    missing = [name for name in names if not hasattr(dfc, NUMPY.get(name, snake(name)))]
    assert not missing, f"functions of the C++ DSL that tools/python/module does not bind: {missing}"


def test_every_formula_function(root):
    rows = re.findall(r"^DFC_FORMULA_OP\(\w+, (\w+)\)", (root / "ir/graph/ops.def").read_text(), re.MULTILINE)
    assert len(rows) > 5 and all(hasattr(dfc, snake(name)) for name in rows), rows


def test_every_function_is_documented():
    for name in dir(_core):
        if not name.startswith("_"):
            thing = getattr(_core, name)
            assert thing.__doc__, name
            members = [] if not isinstance(thing, type) or name in ("DType", "CompileOptions") else dir(thing)
            assert all(getattr(thing, member).__doc__ for member in members if not member.startswith("_")), name
