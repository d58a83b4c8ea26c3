"""Finds outputs that are places in the rows of an input, as topk, argmax and argsort give: their ties may be broken
either way."""

import torch

LEAST_COLUMNS = 4
INTEGERS = ("i32", "i64")


def _are_places(places, columns):
    rows = places.reshape(places.shape[0], -1)
    ordered = rows.sort(dim=1)[0]
    return bool(((rows >= 0) & (rows < columns)).all() and (ordered[:, 1:] != ordered[:, :-1]).all())


def _follow(call, arguments, index, position, places):
    """Whether the places move with the columns of an input."""
    order = torch.randperm(arguments[index].shape[1], generator=torch.Generator().manual_seed(1))
    moved = [value[:, order].clone() if i == index else value for i, value in enumerate(arguments)]
    others = call(moved)[position].long()
    return _are_places(others, len(order)) and torch.equal(order[others], places)


def find(call, arguments, inputs, outputs):
    """{name of an output: its "compare"}. `call(arguments)` gives the outputs in double; `inputs` and `outputs` describe
    the arguments (None for one that is no tensor) and them: "name", "dtype", "shape" as texts."""
    found = {}
    results = call(arguments)
    for position, output in enumerate(outputs):
        if output["dtype"] not in INTEGERS or len(output["shape"]) > 2:
            continue
        places = results[position].long()
        for index, source in enumerate(inputs):
            if source is None or len(source["shape"]) != 2 or source["shape"][0] != output["shape"][0]:
                continue
            value = arguments[index]
            if not value.is_floating_point() or value.shape[1] < LEAST_COLUMNS or not _are_places(places, value.shape[1]):
                continue
            if not _follow(call, arguments, index, position, places):
                continue
            found[output["name"]] = {"indices_into": source["name"]}
            there = value.double().gather(1, places.reshape(places.shape[0], -1)).reshape(places.shape)
            for other, result in zip(outputs, results):
                if other["shape"] == output["shape"] and other is not output and torch.equal(result, there):
                    found[output["name"]]["values"] = other["name"]
    return found
