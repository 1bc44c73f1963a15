"""`model.parameters()` inside an optimizer's arguments: there the receiver is a network, even where its type isn't known."""

import ast
import re

from ..._call import Call

ASKED = re.compile(r"[\w.]*any_parameters\((.*)\)", re.DOTALL)  # what was written for a receiver that isn't known


def take_trainable(call: Call) -> None:
    node = call.given.get("params")
    for each in ast.walk(node) if node is not None else ():
        match each:
            case ast.Call(func=ast.Attribute(attr="parameters", value=receiver), args=[], keywords=[]):
                if call.reading.type(receiver).kind != "unknown":
                    continue
                text = call.of(each)
                asked = ASKED.fullmatch(text)
                if asked or text.endswith(".parameters()"):
                    owner = asked[1] if asked else text.removesuffix(".parameters()")
                    call.edits.replace_node(each, f"{owner}.trainable_params()")
