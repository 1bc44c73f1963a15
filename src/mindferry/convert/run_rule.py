"""One rule at work on one call: what it declares, then what its function says, then whether the result is sound."""

from __future__ import annotations

from ..apis import Rule
from ..apis._call import Call, Unbound

UNBOUND = ("is taken from its class here", "use it as a method of the object, `x.name(...)`, and convert again")


def _takes_any_number(call: Call, entry: Rule) -> bool:
    return entry.is_variadic and not call.node.keywords


def run_rule(call: Call, entry: Rule) -> None:
    if entry.missing:
        call.leave(entry.missing, entry.advice or f"strategy: {entry.strategy}")
    elif (
        call.reading.symbols.framework.has(entry.api)
        and call.literal("out", None) is not None
        and not call.write_into(call.given["out"])
    ):
        call.leave(
            "writes into a view by out=, which MindSpore's functions don't",
            "assign the result instead, `y = ...`, and convert again",
        )
    elif call.is_opaque and not (entry.like and entry.like == entry.to) and not _takes_any_number(call, entry):
        if entry.like:
            call.use_like()
        elif entry.function is not None or entry.rename or entry.drop or entry.defaults:
            call.ask(
                "called with *args or **kwargs, so its arguments can't be told",
                "write the arguments out and convert again",
            )
    elif any(
        call.has(name) and repr(call.literal(name)) not in allowed and call.text(name) not in allowed
        for name, allowed in entry.only.items()
    ):
        if entry.like:
            call.use_like()
        else:
            names = ", ".join(name for name in entry.only if call.has(name))
            call.leave(
                f"MindSpore has no counterpart for {names} given here",
                entry.advice or "leave it out or write a wrapper",
            )
    elif entry.function is not None:
        try:
            entry.function(call)
        except Unbound:
            call._replacement, call.to = None, "."
        except (TypeError, ValueError, IndexError):  # a literal of a type that torch would refuse as well
            call.leave("is not called as torch has it", "give the arguments that it needs and convert again")
    if call.to.startswith(".") and call.receiver is None and call._replacement is None:
        call.leave(*UNBOUND)
    if not call.refusal and not call.is_kept and not call.is_sound:
        call.leave("is not called as torch has it", "give the arguments that it needs and convert again")
    if not (call.refusal or call.is_kept or call.to) and call._replacement is None:
        call.leave("has no counterpart for this form of the call", entry.advice)
