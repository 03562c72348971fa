"""How each operation is called in the sweep: the axes of its tensors, and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from exactref_core.op import Op

Sizes = Mapping[str, int]
# From numbers evenly in [0, 1) to an argument that is no tensor.
Chosen = Callable[[np.ndarray, Sizes], np.ndarray]


@dataclass(frozen=True)
class Call:
    """One way to call an operation.

    ``axes`` has a letter for each axis of each tensor and of the output ("mk,kn->mn"); ``named``
    are the optional tensors that follow the others; ``arrays`` the arguments that are other arrays,
    with their axes. ``along`` are the letters that it adds along, where the output has them too.
    ``sizes`` are the sizes of letters that may not be anything.
    """

    axes: str
    params: Mapping[str, Any] = field(default_factory=dict)
    first: tuple[Any, ...] = ()
    named: tuple[str, ...] = ()
    arrays: Mapping[str, tuple[str, Chosen]] = field(default_factory=dict)
    along: str = ""
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def tensors(self) -> tuple[str, ...]:
        """The axes of the tensors."""
        return tuple(self.axes.split("->")[0].split(","))

    @property
    def output(self) -> str:
        """The axes of the output."""
        return self.axes.split("->")[1]

    @property
    def letters(self) -> str:
        """Every axis once."""
        return "".join(sorted(set(self.axes) - set(",->")))

    @property
    def summed(self) -> str:
        """The axes that it adds along."""
        return self.along or "".join(sorted(set(self.letters) - set(self.output)))

    def text(self) -> str:
        """The call as a line shows it."""
        words = [self.axes, *map(repr, self.first), *(f"{k}={v!r}" for k, v in self.params.items())]
        return " ".join((*words, *self.named, *self.arrays))


def true_or_false(u: np.ndarray, sizes: Sizes) -> np.ndarray:
    return u < 0.5


def one_kept(u: np.ndarray, sizes: Sizes) -> np.ndarray:
    """A mask that keeps the first key of each query, and half of the others."""
    return (u < 0.5) | (np.arange(u.shape[-1]) == 0)


def classes(u: np.ndarray, sizes: Sizes) -> np.ndarray:
    return np.floor(u * max(sizes["c"], 1)).astype(np.int64)


def along_axes(**params: Any) -> tuple[Call, ...]:
    """A reduction of rows and of columns."""
    return (
        Call("rn->r", {"axis": -1, **params}),
        Call("nr->r", {"axis": 0, **params}),
    )


def along_kept_axes(**params: Any) -> tuple[Call, ...]:
    """A function of rows and of columns."""
    return (
        Call("rn->rn", {"axis": -1, **params}, along="n"),
        Call("nr->nr", {"axis": 0, **params}, along="n"),
    )


SOME = {"n": (1, 2, 5, 17)}
SMALL = {"n": (1, 2, 3, 5)}
TARGET = {"target": ("n", classes)}
LOSS = {"c": (1, 2, 5, 17, 33)}
ATTENTION = "bhle,bhse,bhse->bhle"
CALLS: dict[str, tuple[Call, ...]] = {
    **{name: along_axes() for name in ("sum", "mean", "max", "min", "logsumexp")},
    **{name: along_kept_axes() for name in ("softmax", "log_softmax")},
    "cumulative_sum": along_kept_axes(),
    # Bounds of products are computed term by term.
    "prod": tuple(replace(call, sizes=SOME) for call in along_axes()),
    "cumulative_prod": tuple(replace(call, sizes=SOME) for call in along_kept_axes()),
    "var": (*along_axes(), Call("rn->r", {"axis": -1, "correction": 1})),
    "std": (*along_axes(), Call("rn->r", {"axis": -1, "correction": 1})),
    "vector_norm": (
        *along_axes(),
        *(Call("rn->r", {"axis": -1, "ord": order}) for order in (1, np.inf, -np.inf)),
    ),
    "astype": tuple(
        Call("n->n", {"dtype": form}) for form in ("float64", "float32", "bfloat16", "float16")
    ),
    "matmul": (
        Call("mk,kn->mn"),
        Call("bmk,bkn->bmn"),
        Call("mk,k->m"),
        Call("k,k->"),
    ),
    "linear": (Call("mk,nk->mn"), Call("mk,nk,n->mn", named=("bias",)), Call("k,nk->n")),
    "addmm": (
        Call("mn,mk,kn->mn"),
        Call("n,mk,kn->mn", {"beta": 0.75, "alpha": -1.25}),
        Call("mn,mk,kn->mn", {"beta": 0}),
    ),
    "vecdot": (Call("rn,rn->r"), Call("rn,n->r"), Call("n,n->")),
    "outer": (Call("m,n->mn"),),
    "tensordot": (Call("mjk,jkn->mn"), Call("mk,kn->mn", {"axes": 1})),
    "einsum": (
        Call("ij,jk->ik", first=("ij,jk->ik",)),
        Call("ij,ij->i", first=("ij,ij->i",)),
        Call("ij->i", first=("ij->i",)),
        Call("bij,bkj->bik", first=("bij,bkj->bik",)),
    ),
    "matrix_exp": (Call("nn->nn", along="n", sizes=SMALL),),
    "layer_norm": (
        Call("rn->rn", along="n"),
        Call("rn,n,n->rn", named=("weight", "bias"), along="n"),
    ),
    "rms_norm": (Call("rn->rn", along="n"), Call("rn,n->rn", named=("weight",), along="n")),
    "group_norm": (
        Call("bcn->bcn", {"num_groups": 1}, along="n"),
        Call(
            "bcn,c,c->bcn",
            {"num_groups": 2},
            named=("weight", "bias"),
            along="n",
            sizes={"c": (4,)},
        ),
    ),
    "batch_norm": (
        Call("bcn->bcn", {"training": True}, along="b", sizes=SOME),
        Call("bcn,c,c->bcn", {"training": True}, named=("weight", "bias"), along="b", sizes=SOME),
        Call("bcn,c,c->bcn", named=("running_mean", "running_var"), along="b", sizes=SOME),
    ),
    "cross_entropy": (
        Call("nc->", arrays=TARGET, along="c", sizes=LOSS),
        Call("nc->n", {"reduction": "none"}, arrays=TARGET, along="c", sizes=LOSS),
        Call("nc->", {"label_smoothing": 0.25}, arrays=TARGET, along="c", sizes=LOSS),
        Call("nc,c->", arrays=TARGET, named=("weight",), along="c", sizes=LOSS),
    ),
    "nll_loss": (
        Call("nc->", arrays=TARGET, sizes=LOSS),
        Call("nc,c->", arrays=TARGET, named=("weight",), sizes=LOSS),
    ),
    "where": (
        Call("n,n->n", arrays={"condition": ("n", true_or_false)}),
        Call("rn,n->rn", arrays={"condition": ("rn", true_or_false)}),
    ),
    "clip": (
        Call("n->n", {"min": -1.5, "max": 2.0}),
        Call("n->n", {"min": 0.5}),
        Call("n,n,n->n", named=("min", "max")),
    ),
    "elu": (Call("n->n"), Call("n->n", {"alpha": 0.5})),
    "leaky_relu": (Call("n->n"), Call("n->n", {"negative_slope": -1.5})),
    "softplus": (Call("n->n"), Call("n->n", {"beta": 2.0, "threshold": 5.0})),
    "gelu": (Call("n->n"), Call("n->n", {"approximate": "tanh"})),
    "scaled_dot_product_attention": (
        Call(ATTENTION, along="s"),
        Call(ATTENTION, {"is_causal": True, "scale": 0.5}, along="s"),
        Call(ATTENTION, arrays={"attn_mask": ("ls", one_kept)}, along="s"),
        Call("bhle,bhse,bhsd->bhld", along="s"),
    ),
}


def calls_of(op: Op) -> tuple[Call, ...]:
    """The calls of an operation, or of the one whose gradient it is."""
    forward = op if op.forward is None else op.forward
    if forward.name in CALLS:
        return CALLS[forward.name]
    count = len(forward.tensors)
    elementwise = ",".join(["n"] * count) + "->n"
    if count == 1:
        return (Call(elementwise),)
    return (Call(elementwise), Call("rn," + ",".join(["n"] * (count - 1)) + "->rn"))
