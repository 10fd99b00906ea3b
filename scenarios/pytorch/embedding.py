"""A language model looks up its tokens' embeddings. One token was added to the
tokenizer afterwards: its id is the size of the table that nobody resized."""
import torch
import torch.nn.functional as F

import program

BATCH, SEQ, DIM, VOCABULARY, LAYERS = 8, 16, 64, 256, 6


def inputs(faulty):
    token = torch.randint(0, VOCABULARY, (BATCH * SEQ,))
    if faulty:
        token[BATCH] = VOCABULARY
    return {"token": token, "table": torch.randn(VOCABULARY, DIM),
            "w": torch.randn(DIM, DIM) / 8,
            "head": torch.randn(DIM, VOCABULARY),
            "label": torch.randint(0, VOCABULARY, (BATCH * SEQ,))}


def embed(token, table):
    return F.embedding(token, table)  # planted


def encode(x, w):
    for _ in range(LAYERS):
        x = torch.relu(x @ w)
    return x


def forward(batch):
    x = embed(batch["token"], batch["table"])
    return encode(x, batch["w"]) @ batch["head"]


def train_step(batch, device):
    batch = {name: t.to(device) for name, t in batch.items()}
    loss = F.cross_entropy(forward(batch), batch["label"])
    return loss.item()


if __name__ == "__main__":
    program.run(inputs, train_step)
