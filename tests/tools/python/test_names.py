"""Every function of the public C++ headers has its name in Python, or stands below with the reason why not: a new one
that is forgotten fails here."""

import re

import dfc
from dfc import _core

# C++ name: Python's, where it is not the same in snake_case.
NUMPY = {"abs": "absolute", "max": "maximum", "min": "minimum", "pow": "power", "cast": "astype", "compare": "equal",
         "select": "where", "reduceSum": "sum", "reduceMean": "mean", "reduceMax": "max", "reduceMin": "min",
         "reduceProduct": "prod", "cumSum": "cumsum", "argMax": "argmax", "broadcast": "broadcast_to",
         "concat": "concatenate", "trilu": "tril", "iota": "arange"}
OTHER_NAMES = {"addGpus": "Machine.with_host_gpus", "constantInit": "init.constant", "printGraph": "Graph.__str__",
               "printMachine": "Machine.__str__", "chromeTrace": "Trace.chrome", "graphDot": "Graph.dot",
               "standInText": "Trace.backends",
               "saveState": "Session.save", "loadState": "Session.load", "loadWeights": "Session.load_weights",
               "setWeights": "Session.set_weights", "copyState": "Session.copy_state_from",
               "readFashionMnist": "fashion_mnist", "readLearningCurve": "learning_curve",
               **{name: f"init.{name}" for name in ("zeros", "uniform", "normal", "glorot")},
               **{name: f"init.{snake}" for name, snake in (("heNormal", "he_normal"), ("heUniform", "he_uniform"),
                                                            ("fromFile", "from_file"))}}
# Files, whose functions are for all that Python has no means of its own for, and headers whose functions C++ alone needs.
NUMPY_READS = "NumPy reads and writes these files, and bytes of them"
NOT_IN_PYTHON = {
    "diagnostic.h": "dfc.Diagnostic is a plain object", "tensor_type.h": "shapes are tuples, element types DType",
    "literal.h": "arrays are NumPy's", "npy.h": NUMPY_READS, "npz.h": NUMPY_READS,
    "whyNoGpu": "Machine.with_host_gpus raises it", "alike": "for tests of tables", "name": "of enums, which Python names",
    "hasCopies": "of calibrating, which `dfc calibrate` does", "isMeasured": "likewise", "isTimed": "likewise",
    "opOfSignature": "likewise", "signatureOf": "likewise", "tableOf": "likewise", "parseCalibrations": "likewise",
    "overlapSeconds": "the spans of a trace are there", "openCustomLibrary": "a path for Session's functions=",
    "setWholeState": "of readers of files", "parseIdx": "of readers of files", "parseCsv": "of readers of files",
    "parseSafetensors": "of readers of files", "printSafetensors": "of writers of files",
    "readSafetensorsFile": "its texts are dfc's own", "rowsOf": "slices of arrays", "readFashionMnistBytes": "read_array",
    "readFashionMnistPart": "read_array", "fileOfArray": "of `dfc run`", "holdsByteRows": "of `dfc run`",
    "holdsTextNumbers": "of `dfc run`", "numbersAs": "astype of arrays", "feedFrom": "Trainer takes Batches as feeds",
    "predict": "a method of Session", "joinableFetches": "Session.predict",
    "loadTraining": "Trainer resumes", "saveTraining": "Trainer writes checkpoints",
}
# Classes that a program writes graphs and runs them with: their methods, but for those that C++ alone needs.
METHODS = {
    "ir/author/builder.h": ("Builder", {"derivedParameter", "op", "multiOp", "exactly", "at", "locate", "report", "graph"}),
    "ir/author/layers.h": ("Layers", {"phase"}),
    "ir/author/kv_cache.h": ("KvCache", set()),
    "ir/author/loss_scaling.h": ("LossScaling", {"assignNext", "unscaledOne", "watch"}),
    "runtime/session.h": ("Session", {"open", "checkWholeState", "deviceReport", "refusedRows"}),
    "runtime/data/batches.h": ("Batches", {"of", "count", "batch", "columns"}),
    "runtime/training/trainer.h": ("Trainer", {"start", "state", "pausedSeconds", "diverged"}),
}
FUNCTION = re.compile(r"^[\w:][\w:<>, &*]* [*&]?(\w+)\(", re.MULTILINE)
METHOD = re.compile(r"^  (?!explicit|return|friend)(?:static )?[\w:][\w:<>, &*]* [*&]?(\w+)\(", re.MULTILINE)


def snake(name):
    return re.sub(r"([A-Z])", r"_\1", name).lower()


def has(path):
    thing = dfc
    for part in path.split("."):
        thing = getattr(thing, part, None)
    return thing is not None


def text_of(root, header):
    """Without comments; a generated header's rows are in ops.def, which another test walks."""
    file = root / header
    return re.sub(r"//[^\n]*", "", file.read_text()) if file.exists() else ""


def public_headers(root):
    rows = re.search(r"set\(dfc_public_headers(.*?)\)\n", (root / "tools/cmake/dfc_library.cmake").read_text(), re.DOTALL)
    return [row.split("=")[0] for row in rows.group(1).split()]


def test_every_function_of_the_public_headers(root):
    missing, seen = [], set()
    for header in public_headers(root):
        names = set(FUNCTION.findall(text_of(root, header))) - {"operator"}
        seen |= names | {header.rsplit("/", 1)[1]}
        if header.rsplit("/", 1)[1] in NOT_IN_PYTHON:
            continue
        missing += [f"{name} of {header}" for name in sorted(names - NOT_IN_PYTHON.keys())
                    if not has(OTHER_NAMES.get(name) or NUMPY.get(name) or snake(name))]
    assert len(seen) > 150, "the headers are not read as they are written"
    assert not missing, f"public functions that tools/python/module does not bind: {missing}"
    assert not (gone := NOT_IN_PYTHON.keys() - seen), f"excused, but no longer there: {gone}"


def test_every_method_of_the_classes_that_write_and_run(root):
    for header, (name, excused) in METHODS.items():
        text = text_of(root, header)
        public = re.search(rf"^class (?:\[\[nodiscard\]\] )?{name} {{(.*?)^ private:", text, re.DOTALL | re.MULTILINE).group(1)
        methods = set(METHOD.findall(public)) - {name, "operator"}
        assert methods and excused <= methods, f"{header} is not read as it is written: {sorted(methods)}"
        missing = [one for one in sorted(methods - excused) if not has(f"{name}.{snake(one)}")]
        assert not missing, f"methods of {name} that tools/python/module does not bind: {missing}"


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
