import torch


def inputs(axes, generator):
    rows, length, pages = axes["B"], axes["L"], axes["P"]
    if pages < length:
        raise ValueError("the pages of a row are distinct")
    table = torch.rand(rows, pages, generator=generator).argsort(dim=1)[:, :length]
    return {"table": table, "lengths": torch.randint(1, 4 * length + 1, (rows,), generator=generator).int()}


def forward(lengths, pages, table):
    tokens = pages[table].reshape(table.shape[0], -1, pages.shape[2])
    used = torch.arange(tokens.shape[1], device=pages.device) < lengths.unsqueeze(1)
    return (tokens * used.unsqueeze(2)).sum(dim=1)
