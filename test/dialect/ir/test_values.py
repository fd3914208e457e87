"""The op behind a value, and attributes as Python values."""

from mlir import ir

from tir_mlir.dialect.ir import attrs, defining_op, enter_context, owner_op

_MODULE = """
func.func private @g(%x: index {a.b = 1 : i64}, %y: index)
func.func @f(%x: index) {
  affine.for %i = 0 to 4 {
    %s = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%x]
  }
  return
}
"""


def test_owner_and_defining_op():
    with enter_context():
        module = ir.Module.parse(_MODULE)
        func = module.body.operations[1].operation
        loop = func.regions[0].blocks[0].operations[0].operation
        body = loop.regions[0].blocks[0]
        apply = body.operations[0].operation
        assert owner_op(apply.results[0]) == defining_op(apply.results[0]) == apply
        assert owner_op(body.arguments[0]) == loop
        assert defining_op(body.arguments[0]) is None
        assert owner_op(func.regions[0].blocks[0].arguments[0]) == func


def test_attributes():
    with enter_context():
        module = ir.Module.parse(_MODULE)
        declared, func = (op.operation for op in module.body.operations)
        assert [set(a) for a in attrs.argument_attrs(declared)] == [{"a.b"}, set()]
        assert attrs.argument_attrs(func) == []
        apply = func.regions[0].blocks[0].operations[0].operation.regions[0].blocks[0].operations[0].operation
        assert str(attrs.map_of(apply.attributes["map"])) == "(d0)[s0] -> (d0 + s0)"
        for value in (True, 3, 2.5, "text", [1, ["a"]], {"k": {"v": 1}}):
            assert attrs.from_attr(attrs.to_attr(value)) == value
