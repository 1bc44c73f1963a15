"""The recorder's own command line, for a machine that has torch but not mindferry."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .goldenfile import RecordError
from .named import build, find, load_weights, make_inputs, shake
from .recorder import record


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description="Record a torch model in one golden file.")
    parser.add_argument("--project", default=".", help="folder that holds the model's code")
    parser.add_argument("--model", required=True, help="module:factory")
    parser.add_argument("--input", action="append", required=True, help="for instance 'float32[4,3,224,224]'")
    parser.add_argument("--weights", help="a torch checkpoint; without one, the initial weights with some spread")
    parser.add_argument("--modes", default="eval,train", help="eval, train, amp")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, …")
    parser.add_argument("--loss", help="module:function of the output and the targets; else a random weighting")
    parser.add_argument("--target", action="append", default=[], help="what the loss compares with, like --input")
    parser.add_argument("--optimizer", help="module:function that makes an optimizer for the model")
    parser.add_argument("--steps", type=int, default=0, help="training steps to record, with --loss and --optimizer")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", required=True, help="the golden file to write")
    options = parser.parse_args()
    sys.path.insert(0, str(Path(options.project).resolve()))
    partial = Path(f"{options.output}.part")
    try:
        torch.manual_seed(options.seed)
        model = build(options.model)
        load_weights(model, options.weights) if options.weights else shake(model, options.seed)
        inputs = make_inputs(options.input, options.seed)
        record(
            model.to(options.device),
            inputs,
            partial,
            modes=options.modes.split(","),
            seed=options.seed,
            title=options.model,
            loss=find(options.loss) if options.loss else None,
            targets=make_inputs(options.target, options.seed + 1),
            optimizer=find(options.optimizer) if options.optimizer else None,
            steps=options.steps,
            remake=lambda: build(options.model),
        )
        os.replace(partial, options.output)
    except RecordError as error:
        sys.exit(f"record: {error}")
    finally:
        partial.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
