"""What the programs beside this file share: options, seed, the right answer.

A program has a function inputs(faulty), which draws from torch's generator,
and a function train_step(inputs, device), which returns its loss. The line
that goes wrong ends in the comment `# planted`. Its data are right when the
loss is that of the healthy inputs on the CPU.

What became of it goes to stdout as one line of JSON, unless PyTorch raises:
then Python's traceback on stderr is the report, as it is for everybody.
"""
import argparse
import json
import math
import sys

import torch


def probe():
    """Prints the device's name, or says why there is none."""
    if not torch.cuda.is_available():
        sys.exit("PyTorch %s finds no CUDA device" % torch.__version__)
    print(json.dumps({"device_name": torch.cuda.get_device_name(0)}))


def run(inputs, train_step):
    parser = argparse.ArgumentParser()
    parser.add_argument("--variant", choices=["faulty", "healthy"])
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    right = train_step(inputs(False), "cpu")
    torch.manual_seed(options.seed)
    batch = inputs(options.variant == "faulty")
    loss = train_step(batch, "cuda")
    torch.cuda.synchronize()
    close = math.isfinite(loss) and math.isclose(loss, right, rel_tol=1e-3,
                                                 abs_tol=1e-3)
    print(json.dumps({"data": "right" if close else "wrong"}))


if __name__ == "__main__":
    probe()
