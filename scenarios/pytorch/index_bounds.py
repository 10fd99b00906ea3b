"""A classifier takes the hidden state of each sequence's last token. One
sequence fills its row, and its index is its length: one past the end."""
import torch
import torch.nn.functional as F

import program

BATCH, SEQ, DIM, CLASSES, LAYERS = 8, 16, 64, 10, 6


def inputs(faulty):
    last = torch.randint(0, SEQ, (BATCH,))
    if faulty:
        last[BATCH // 2] = SEQ
    return {"x": torch.randn(BATCH, SEQ, DIM), "last": last,
            "w": torch.randn(DIM, DIM) / 8, "head": torch.randn(DIM, CLASSES),
            "label": torch.randint(0, CLASSES, (BATCH,))}


def last_hidden(x, last):
    row = torch.arange(BATCH, device=x.device)
    return x[row, last]  # planted


def encode(x, w):
    for _ in range(LAYERS):
        x = torch.relu(x @ w)
    return x


def forward(batch):
    x = last_hidden(batch["x"], batch["last"])
    return encode(x, batch["w"]) @ batch["head"]


def train_step(batch, device):
    batch = {name: t.to(device) for name, t in batch.items()}
    loss = F.cross_entropy(forward(batch), batch["label"])
    return loss.item()


if __name__ == "__main__":
    program.run(inputs, train_step)
