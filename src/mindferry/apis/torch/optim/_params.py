"""`model.parameters()` inside an optimizer's arguments: there the receiver is a network, even where its type isn't known."""

import ast

from ..._call import Call


def take_trainable(call: Call) -> None:
    node = call.given.get("params")
    for each in ast.walk(node) if node is not None else ():
        match each:
            case ast.Call(func=ast.Attribute(attr="parameters", value=receiver), args=[], keywords=[]):
                if call.reading.type(receiver).kind != "unknown":
                    continue
                call.edits.replace_node(each, f"{call.before_dot(receiver)}.trainable_params()")
