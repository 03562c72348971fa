"""torch's and scipy's matrix exponentials: matrices that pass; findings.md has others."""

import numpy as np
import pytest

import exactref as er

torch = pytest.importorskip("torch")


def torch_exp(a):
    return torch.linalg.matrix_exp(torch.from_numpy(a)).numpy()


def scipy_exp(a):
    return pytest.importorskip("scipy.linalg").expm(a)


@pytest.mark.parametrize("kernel", [torch_exp, scipy_exp])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rotation(exactref, kernel, dtype):
    a = np.array([[0, 1], [-1, 0]], dtype=dtype)
    exactref.check(kernel(a), er.matrix_exp(a))


@pytest.mark.parametrize("kernel", [torch_exp, scipy_exp])
def test_defective(exactref, kernel):
    a = np.array([[0, 1000], [0, 0]], dtype=np.float32)
    exactref.check(kernel(a), er.matrix_exp(a))


def test_planted_fault_one_term_too_few(exactref):
    a = np.array([[0, 1], [-1, 0]], dtype=np.float32)
    term = total = np.eye(2)
    for k in range(1, 9):
        term = term @ a / k
        total = total + term
    with pytest.raises(AssertionError):
        exactref.check(total.astype(np.float32), er.matrix_exp(a))
