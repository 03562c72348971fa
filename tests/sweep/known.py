"""What the sweep is known to find: the findings of docs/findings.md by operation and format.

Each has an input of its own, in `tests.sweep.kept`, but for those of other processors.
"""

from __future__ import annotations

from exactref_core.op import Op
from exactref_core.registry import get_op
from tests.sweep.kept import lines

# Gradients of 16-bit formats, of which torch computes most step by step and stores every step.
STEPWISE = "torch_autograd_bfloat16"
NARROW = ("bfloat16", "float16")

Known = dict[tuple[str, str], str]


def everywhere(name: str, *ops: str, forms: tuple[str, ...] = NARROW) -> Known:
    """A finding of some operations in some formats."""
    return {(op, form): name for op in ops for form in forms}


def by_format(name: str, op: str, *forms: str) -> Known:
    """The findings of an operation that are named after their format."""
    return {(op, form): f"{name}_{form}" for form in forms}


BOTH = ("float32", "float64")
WIDE = (*BOTH, "bfloat16")
TORCH: Known = {
    **by_format("torch_sqrt", "sqrt", "float32", "float64"),
    **everywhere("torch_sinh", "sinh", "cosh", forms=WIDE),
    **everywhere("torch_gelu_bfloat16_overflows", "gelu", forms=("float32", "bfloat16")),
    **by_format("torch_gelu", "gelu", "float16"),
    **everywhere("torch_layer_norm_overflows", "layer_norm", forms=WIDE),
    **everywhere("torch_group_norm_overflows", "group_norm", forms=WIDE),
    **everywhere("torch_batch_norm_bfloat16", "batch_norm"),
    ("matmul", "bfloat16"): "torch_bfloat16_matmul_leaks",
    **by_format("torch_vecdot", "vecdot", *NARROW),
    **by_format("torch_prod", "prod", *NARROW),
    **by_format("torch_rsqrt", "rsqrt", *NARROW),
    **by_format("torch_logsumexp", "logsumexp", *NARROW),
    **by_format("torch_log_softmax", "log_softmax", *NARROW),
    **by_format("torch_log_softmax", "cross_entropy", *NARROW),
    ("erf", "bfloat16"): "torch_erf_float16",
    **everywhere("torch_digamma", "digamma", forms=("float64",)),
    **everywhere("torch_cast_to_float16", "astype", forms=("float64",)),
    **everywhere("torch_matrix_exp_bfloat16", "matrix_exp"),
    ("matrix_exp", "float32"): "torch_matrix_exp_decay",
    ("matrix_exp", "float64"): "torch_matrix_exp_small",
    **by_format("torch_flash_attention", "scaled_dot_product_attention", *NARROW),
    **everywhere("torch_flash_attention_loses_nan", "scaled_dot_product_attention", forms=BOTH),
    **by_format("torch_softmax_of_columns", "softmax", *NARROW),
    **by_format("torch_nll_loss", "nll_loss", *NARROW),
    ("backward.digamma", "float64"): "torch_autograd_digamma",
    ("backward.digamma", "float32"): "torch_autograd_digamma_pole",
    ("backward.lgamma", "float64"): "torch_autograd_lgamma",
    **everywhere("torch_autograd_divide", "backward.divide", forms=BOTH),
    **everywhere("torch_autograd_layer_norm", "backward.layer_norm", forms=BOTH),
    **everywhere("torch_autograd_layer_norm", "backward.group_norm", forms=BOTH),
    **everywhere("torch_autograd_rms_norm", "backward.rms_norm", forms=BOTH),
    **everywhere("torch_autograd_prod", "backward.prod", forms=BOTH),
    **everywhere("torch_autograd_cumulative_prod", "backward.cumulative_prod", forms=BOTH),
    **everywhere("torch_matrix_exp_gradient", "backward.matrix_exp", forms=BOTH),
    **everywhere("torch_matrix_exp_bfloat16", "backward.matrix_exp"),
    **everywhere("torch_autograd_hardsigmoid", "backward.hardsigmoid", forms=("float64",)),
}
NUMPY: Known = {
    ("sum", "bfloat16"): "numpy_sum_of_bfloat16",
    ("sum", "float16"): "numpy_sum_of_columns",
    ("mean", "bfloat16"): "numpy_mean_of_bfloat16",
    ("einsum", "float16"): "numpy_einsum_of_float16",
    **everywhere("numpy_cumulative_sum_of_float16", "cumulative_sum", "cumulative_prod", "prod"),
    **everywhere("numpy_deviation_of_float16", "std"),
    ("var", "float16"): "numpy_deviation_of_float16",
    ("vector_norm", "float16"): "numpy_norm_of_float16",
}
# Of a processor that the kept inputs are not of: findings of their own show them.
ELSEWHERE = ("torch_bfloat16_matmul_leaks", "torch_gelu_float16")


def stepwise() -> Known:
    """The gradients that are wrong in a 16-bit format: each has an input that shows it."""
    found = (place for place, _ in lines() if place[0] == "torch")
    return {
        (op, form): STEPWISE
        for _, op, form in found
        if form in NARROW and get_op(op).forward is not None and (op, form) not in TORCH
    }


KNOWN: dict[str, Known] = {"torch": {**stepwise(), **TORCH}, "numpy": NUMPY}


def known(library: str, op: Op, form: str) -> str | None:
    """The name of the finding, if there is one."""
    return KNOWN[library].get((op.name, form))
