"""A training step learns from its hard rows only, those above a threshold, and
in this batch none is hard. The mean of no losses is NaN, and nothing minds."""
import torch
import torch.nn.functional as F

import program

ROWS, DIM, CLASSES, LAYERS, HARD = 128, 64, 10, 6, 0.5


def inputs(faulty):
    difficulty = torch.rand(ROWS)
    difficulty[ROWS // 2] = 1
    if faulty:
        difficulty = difficulty * HARD / 2
    return {"x": torch.randn(ROWS, DIM), "w": torch.randn(DIM, DIM) / 8,
            "head": torch.randn(DIM, CLASSES), "difficulty": difficulty,
            "label": torch.randint(0, CLASSES, (ROWS,))}


def forward(batch):
    x = batch["x"]
    for _ in range(LAYERS):
        x = torch.relu(x @ batch["w"])
    return x @ batch["head"]


def hard_loss(logits, label, mask):
    return F.cross_entropy(logits[mask], label[mask])  # planted


def train_step(batch, device):
    batch = {name: t.to(device) for name, t in batch.items()}
    mask = batch["difficulty"] > HARD
    return hard_loss(forward(batch), batch["label"], mask).item()


if __name__ == "__main__":
    program.run(inputs, train_step)
