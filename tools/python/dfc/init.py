"""How parameters start: `g.parameter("w", (784, 256), dfc.init.glorot(seed=1))`."""

from ._core import init_constant as constant
from ._core import init_from_file as from_file
from ._core import init_glorot as glorot
from ._core import init_he_normal as he_normal
from ._core import init_he_uniform as he_uniform
from ._core import init_normal as normal
from ._core import init_uniform as uniform
from ._core import init_zeros as zeros

__all__ = ["constant", "from_file", "glorot", "he_normal", "he_uniform", "normal", "uniform", "zeros"]
