"""A training step on labels that came from masks: one is 255, the colour of
"void", and there are ten classes."""
import torch
import torch.nn.functional as F

import program

ROWS, DIM, CLASSES, LAYERS, VOID = 128, 64, 10, 6, 255


def inputs(faulty):
    label = torch.randint(0, CLASSES, (ROWS,))
    if faulty:
        label[ROWS // 2] = VOID
    return {"x": torch.randn(ROWS, DIM), "w": torch.randn(DIM, DIM) / 8,
            "head": torch.randn(DIM, CLASSES), "label": label}


def forward(batch):
    x = batch["x"]
    for _ in range(LAYERS):
        x = torch.relu(x @ batch["w"])
    return x @ batch["head"]


def loss_of(logits, label):
    return F.cross_entropy(logits, label)  # planted


def penalty(batch):
    weights = batch["w"]
    for _ in range(LAYERS):
        weights = torch.relu(weights @ batch["w"])
    return weights.mean()


def train_step(batch, device):
    batch = {name: t.to(device) for name, t in batch.items()}
    loss = loss_of(forward(batch), batch["label"])
    loss = loss + penalty(batch)
    return loss.item()


if __name__ == "__main__":
    program.run(inputs, train_step)
