"""What is wrong with the arguments of a call, said from the function's signature. The module calls `explained` where
nanobind would give its own text."""

from __future__ import annotations

import ast
import collections.abc
import difflib
import numbers
from typing import Any

from . import _core

# What a name is called here, that other libraries give otherwise.
_HABITS = {"dim": "axis", "axes": "axis", "keepdim": "keepdims", "stride": "strides", "dilation": "dilations", "lr": "rate",
           "learning_rate": "rate", "p": "rate", "num_classes": "depth", "size": "shape", "out_features": "to", "out": "to",
           "params": "parameters", "grads": "gradients", "epochs": "steps", "dims": "permutation"}
# The way from what was given to what is taken.
_WAYS = {("Graph", "Builder"): "finish it first: g.finish()", ("Plan", "Graph"): "plan it first: dfc.compile(graph)",
         ("Plan", "Builder"): "plan it first: dfc.compile(g.finish())", ("Session", "Plan"): "open it first: dfc.Session(plan)",
         ("Session", "Graph"): "open it first: dfc.open(graph)", ("Builder", "Tensor"): "give the Builder that wrote it"}
_SHOWN = {"compile_graph": "compile"}


def explained(function: Any, given: list[Any], named: dict[str, Any]) -> str:
    """A sentence for the call `function(*given, **named)`, which the function's types refuse."""
    signature = (function.__doc__ or "").split("\n\n")[0].strip()
    shown = _shown(function, given, named)
    try:
        arguments = ast.parse(f"def {signature}: ...").body[0].args  # type: ignore[attr-defined]
    except (SyntaxError, AttributeError):
        return f"{shown}(): the arguments do not fit: {', '.join(map(_type, given))}; {signature}"
    all_positional = arguments.posonlyargs + arguments.args
    if all_positional and all_positional[0].arg == "self":
        arguments.args, given = all_positional[1:], given[1:]
        arguments.posonlyargs = []
    why = (_unknown(arguments, given, named) or _wrong_type(arguments, given, named) or _lacking(arguments, given, named) or
           "the arguments do not fit")
    how = "" if function.__name__ in _SHOWN else f"\n  {shown}({_call(arguments)})"
    return f"{shown}(): {why}{how}"


def _shown(function: Any, given: list[Any], named: dict[str, Any]) -> str:
    name = function.__name__
    if name == "__init__" and given:
        return type(given[0]).__name__
    if name.startswith("init_"):
        return f"init.{name[len('init_'):]}"
    return _SHOWN.get(name, name)


def _type(value: Any) -> str:
    kind = type(value)
    if kind.__module__ in ("dfc._core", "dfc.plain"):
        return f"a dfc.{kind.__name__}"
    return "None" if value is None else f"{kind.__name__} {value!r}" if isinstance(value, (str, numbers.Number)) else \
        f"a {kind.__name__}"


def _unknown(arguments: ast.arguments, given: list[Any], named: dict[str, Any]) -> str | None:
    positional = [one.arg for one in arguments.args]
    names = positional + [one.arg for one in arguments.kwonlyargs]
    for name in named:
        if name in positional[:len(given)]:
            return f"'{name}' is given twice, by its place and by its name"
        if name not in names and arguments.kwarg is None:
            habit = _HABITS.get(name)
            near = [habit] if habit in names else difflib.get_close_matches(name, names, n=1)
            return f"there is no argument '{name}'" + (f"; did you mean '{near[0]}'?" if near else "")
    if len(given) > len(positional) and arguments.vararg is None:
        by_name = f"; '{arguments.kwonlyargs[0].arg}' and what follows is given by name" if arguments.kwonlyargs else ""
        return f"{len(given)} arguments are given by place, and {len(positional)} can be{by_name}"
    return None


def _lacking(arguments: ast.arguments, given: list[Any], named: dict[str, Any]) -> str | None:
    positional = [one.arg for one in arguments.args]
    needed = positional[:len(positional) - len(arguments.defaults)]
    needed += [one.arg for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults) if default is None]
    lacking = [f"'{name}'" for i, name in enumerate(needed)
               if name not in named and not (name in positional and i < len(given))]
    return f"{' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} not given" if lacking else None


def _wrong_type(arguments: ast.arguments, given: list[Any], named: dict[str, Any]) -> str | None:
    pairs = list(zip(arguments.args, given))
    pairs += [(one, named[one.arg]) for one in arguments.args + arguments.kwonlyargs if one.arg in named]
    for argument, value in pairs:
        if argument.annotation is None or _fits(argument.annotation, value):
            continue
        taken = ast.unparse(argument.annotation)
        way = _WAYS.get((taken.rsplit(".", 1)[-1], type(value).__name__))
        if way is None and "Sequence[" in taken and isinstance(value, _core.Tensor):
            way = "give a list, [x] for one"
        return f"'{argument.arg}' takes {_plain(taken)}, not {_type(value)}" + (f"; {way}" if way else "")
    return None


def _fits(annotation: ast.expr, value: Any) -> bool:
    """False only where the value is surely none of the annotation."""
    if value is None:
        return "None" in ast.unparse(annotation)
    if isinstance(annotation, ast.BinOp):
        return _fits(annotation.left, value) or _fits(annotation.right, value)
    name = ast.unparse(annotation)
    last = name.split("[", 1)[0].rsplit(".", 1)[-1]
    if last in ("None", "int"):
        return last == "int" and hasattr(type(value), "__index__")
    simple = {"str": str, "bool": bool, "float": numbers.Real}.get(last)
    if simple is not None:
        return isinstance(value, simple)
    if last in ("Sequence", "Mapping", "Callable"):
        return isinstance(value, getattr(collections.abc, last)) and not (last == "Sequence" and isinstance(value, str))
    ours = getattr(_core, last, None)
    return isinstance(value, ours) if isinstance(ours, type) else True


def _plain(annotation: str) -> str:
    for long in ("collections.abc.", "numpy.typing.", "_core.", "typing."):
        annotation = annotation.replace(long, "")
    return annotation.replace(" | ", " or ")


def _call(arguments: ast.arguments) -> str:
    """The names with their defaults, without types."""
    without = len(arguments.args) - len(arguments.defaults)
    texts = [one.arg if i < without else f"{one.arg}={ast.unparse(arguments.defaults[i - without])}"
             for i, one in enumerate(arguments.args)]
    texts += [f"*{arguments.vararg.arg}"] if arguments.vararg else ["*"] if arguments.kwonlyargs else []
    texts += [one.arg if default is None else f"{one.arg}={ast.unparse(default)}"
              for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    return ", ".join(texts + ([f"**{arguments.kwarg.arg}"] if arguments.kwarg else []))
