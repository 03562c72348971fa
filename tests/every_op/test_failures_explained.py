"""Every operation's failures are explained: by words that are true, or by none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.array import Array
from exactref_core.compare import judge
from exactref_core.diagnosis.explaining import looks_like
from exactref_core.diagnosis.findings import Findings
from exactref_core.op import Op
from tests.every_op.simple import simple_call


def spoilt(array: Array) -> Array:
    """Values that are all off by a third, and by 1."""
    values = array.values()
    if array.format.is_integer:
        return Array(array.data + np.ones((), array.data.dtype), array.format)
    return er.asarray(np.where(np.isnan(values), 1, values * 1.3 + 1), array.format)


@pytest.mark.parametrize("op", er.ops(), ids=lambda op: op.name)
@np.errstate(all="ignore")
def test_a_failure_of_every_operation_is_explained_without_an_error(op: Op) -> None:
    result = simple_call(op)
    outputs: dict[str, Any] = {name: spoilt(result[name].rounded) for name in result.outputs}
    findings: dict[str, Findings] = {}
    judged = judge(outputs, result, standard="any_order", findings=findings)
    for one in judged:
        seen = findings[one.output]
        assert one.wrong
        assert bool(seen.where) == (int(seen.failing.sum()) > 1)
        words = looks_like(outputs[one.output], result, one.output, seen, seconds=1)
        assert words == "" or words.endswith(" (every element covered)")
