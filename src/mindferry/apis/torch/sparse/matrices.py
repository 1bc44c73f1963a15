"""Sparse matrices as graph networks use them: built from positions, coalesced, multiplied, with gradients."""

from ... import Case, rule
from ..._call import Call
from .._selections import may_hold_nothing
from ._files import mentions_sparse

MADE = "torch.sparse_coo_tensor(y, x, (4, 5))"
BECOMES = "ms_compat.sparse_coo_tensor(y, x, (4, 5))"
ENTRIES = ("float32[6]", "int64[2,6](0,4)")

rule(
    "torch.sparse_coo_tensor",
    to="compat.sparse_coo_tensor",
    args="indices values size dtype device requires_grad check_invariants is_coalesced",
    like="compat.sparse_coo_tensor",
    differs="a class of its own with torch's methods; it runs outside of ms.jit",
    cases=[
        Case(f"{MADE}.to_dense()", f"{BECOMES}.to_dense()", inputs=ENTRIES),
        Case(f"{MADE}.coalesce().values()", f"{BECOMES}.coalesce().values()", inputs=ENTRIES),
        Case(f"{MADE}.coalesce().indices() + x[0]", f"{BECOMES}.coalesce().indices() + x[0]", inputs=ENTRIES),
        Case(f"{MADE} @ z", f"{BECOMES} @ z", inputs=(*ENTRIES, "float32[5,3]")),
        Case(
            f"({MADE}.t() * 2).to_dense()",
            f"ms_compat.any_to_dense(({BECOMES}.t() * 2))",
            inputs=ENTRIES,
        ),
        Case(
            f"({MADE} + {MADE}).coalesce().to_dense()",
            f"ms_compat.any_to_dense(({BECOMES} + {BECOMES}).coalesce())",
            inputs=ENTRIES,
        ),
        Case(
            "torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0]).to_dense() * x[0]",
            "ms_compat.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0]).to_dense() * x[0]",
            inputs=("float32[6]",),
        ),
    ],
)
for _name in ("FloatTensor", "DoubleTensor", "LongTensor"):
    rule(
        f"torch.sparse.{_name}",
        to="compat.sparse_coo_tensor",
        args="indices values size",
        like="compat.sparse_coo_tensor",
        cases=[
            Case(
                f"torch.sparse.{_name}(y, x{'.double()' if _name[0] == 'D' else '.long()' if _name[0] == 'L' else ''}, torch.Size([4, 5])).to_dense()",
                f"ms_compat.sparse_coo_tensor(y, x{'.double()' if _name[0] == 'D' else '.long()' if _name[0] == 'L' else ''}, tuple([4, 5])).to_dense()",
                inputs=ENTRIES,
                runs=_name == "FloatTensor",
                why="" if _name == "FloatTensor" else "FloatTensor runs",
            ),
        ],
    )
rule(
    "torch.sparse_csr_tensor",
    to="compat.sparse_csr_tensor",
    args="crow_indices col_indices values size",
    like="compat.sparse_csr_tensor",
    differs="kept by positions",
    cases=[
        Case(
            "torch.sparse_csr_tensor([0, 2, 3], [0, 2, 1], x, (2, 4)).to_dense()",
            "ms_compat.sparse_csr_tensor([0, 2, 3], [0, 2, 1], x, (2, 4)).to_dense()",
            inputs=("float32[3]",),
            gradient=False,
        ),
    ],
)
for _api in ("torch.sparse.mm", "torch.spmm", "torch.smm"):
    rule(
        _api,
        to="compat.sparse_mm",
        args="mat1 mat2 reduce" if "mm" in _api and "sparse" in _api else "mat1 mat2",
        like="compat.sparse_mm",
        cases=[
            Case(
                f"{_api}({MADE}, z)",
                f"ms_compat.sparse_mm({BECOMES}, z)",
                inputs=(*ENTRIES, "float32[5,3]"),
                runs=_api != "torch.smm",
                why="" if _api != "torch.smm" else "its result is sparse in torch",
            ),
        ],
    )
rule(
    "torch.sparse.addmm",
    to="compat.sparse_addmm",
    args="mat mat1 mat2",
    like="compat.sparse_addmm",
    cases=[
        Case(
            f"torch.sparse.addmm(w, {MADE}, z, beta=0.5)",
            f"ms_compat.sparse_addmm(w, {BECOMES}, z, beta=0.5)",
            inputs=(*ENTRIES, "float32[5,3]", "float32[4,3]"),
        ),
    ],
)
rule(
    "torch.sparse.sum",
    to="compat.sparse_sum",
    args="input dim dtype",
    like="compat.sparse_sum",
    cases=[
        Case(f"torch.sparse.sum({MADE}) * x", f"ms_compat.sparse_sum({BECOMES}) * x", inputs=ENTRIES),
        Case(
            f"torch.sparse.sum({MADE}, dim=1).to_dense()",
            f"ms_compat.sparse_sum({BECOMES}, dim=1).to_dense()",
            inputs=ENTRIES,
        ),
    ],
)
rule(
    "torch.sparse.softmax",
    to="compat.sparse_softmax",
    args="input dim dtype",
    like="compat.sparse_softmax",
    cases=[
        Case(
            f"torch.sparse.softmax({MADE}, dim=1).to_dense()",
            f"ms_compat.sparse_softmax({BECOMES}, dim=1).to_dense()",
            inputs=ENTRIES,
        ),
    ],
)
rule(
    "torch.sparse.sampled_addmm",
    to="compat.sampled_addmm",
    args="input mat1 mat2",
    like="compat.sampled_addmm",
    cases=[
        Case(
            "torch.sparse.sampled_addmm(x.to_sparse_csr(), y, z, alpha=0.5).to_dense()",
            "ms_compat.sampled_addmm(ms_compat.to_sparse(x), y, z, alpha=0.5).to_dense()",
            shapes=((4, 5), (4, 3), (3, 5)),
            gradient=False,
        ),
    ],
)
for _name in ("to_sparse", "to_sparse_csr", "to_sparse_coo"):
    rule(
        f"torch.Tensor.{_name}",
        to="compat.to_sparse",
        args="self",
        like="compat.to_sparse",
        cases=[
            Case(
                f"x.{_name}().to_dense() * 2",
                "ms_compat.to_sparse(x).to_dense() * 2",
                shapes=((3, 4),),
                gradient=False,
            ),
        ],
    )
rule(
    "torch.Tensor.to_dense",
    to="compat.to_dense",
    args="self",
    like="compat.to_dense",
    cases=[Case("x.to_dense() * 2", "ms_compat.to_dense(x) * 2", shapes=((2, 3),))],
)
for _name in (
    "coalesce",
    "values",
    "indices",
    "_values",
    "_indices",
    "_nnz",
    "is_coalesced",
    "sparse_dim",
    "dense_dim",
):
    rule(
        f"torch.Tensor.{_name}",
        to=f".{_name}",
        cases=[
            Case(f"x.{_name}()", f"x.{_name}()", shapes=((2, 3),), runs=False, why="sparse_coo_tensor's cases run it"),
        ],
    )


def _product(call: Call) -> None:
    if mentions_sparse(call):
        call.use("compat.sparse_mm")
    elif not call.is_opaque and (may_hold_nothing(call, *call.given.values())):
        if "mat2" in {each.arg for each in call.node.keywords}:  # the helper has matmul's names
            call.replace(f"{call.name('compat.matmul')}({call.text('input')}, {call.text('mat2')})")
        else:
            call.use_like()


for _name, _other in (("matmul", "other"), ("mm", "mat2")):
    rule(
        f"torch.{_name}",
        to=f"mindspore.ops.{_name}",
        args=f"input {_other}",
        like="compat.matmul",
        differs="a product over no elements is garbage on CPU; what a mask selects is multiplied by a helper that minds it",
        cases=[
            Case(f"torch.{_name}(x, y.abs())", f"ops.{_name}(x, ops.abs(y))", shapes=((3, 4), (4, 2))),
            Case(f"torch.{_name}(x, y)", "ms_compat.matmul(x, y)", shapes=((3, 4), (4, 2))),
            Case(
                f"torch.{_name}(x[y > 0].t(), x[y > 0])",
                "ms_compat.matmul(x[y > 0].T, x[y > 0])",
                shapes=((4, 3), (4,)),
            ),
            Case(f"torch.{_name}({MADE}, z)", f"ms_compat.sparse_mm({BECOMES}, z)", inputs=(*ENTRIES, "float32[5,3]")),
            Case(
                f"torch.{_name}(x, y.to_sparse().to_dense())",
                "ms_compat.sparse_mm(x, ms_compat.to_sparse(y).to_dense())",
                shapes=((3, 4), (4, 2)),
                gradient=False,
            ),
        ],
    )(_product)
