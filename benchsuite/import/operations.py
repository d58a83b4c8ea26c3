"""The sums and the work of one operation of PyTorch, from the shapes of its tensors."""

import math

import torch

REDUCTIONS = ("sum", "nansum", "mean", "nanmean", "var", "var_mean", "std", "std_mean", "norm", "linalg_vector_norm",
              "logsumexp", "prod")
LOSSES = ("mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
          "kl_div", "nll_loss_forward", "nll_loss2d_forward")
ALONG = ("_softmax", "_log_softmax", "softmax", "log_softmax", "cumsum", "cumprod", "logcumsumexp")
PRODUCTS = ("mm", "bmm", "mv", "dot", "vdot", "addmm", "addmv", "baddbmm", "addbmm", "linear", "matmul")
POOLS = ("avg_pool1d", "avg_pool2d", "avg_pool3d")
ADAPTIVE_POOLS = ("_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d",
                  "adaptive_avg_pool3d")
BATCH_NORMS = ("native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update", "cudnn_batch_norm")
NORMS = ("norm", "linalg_vector_norm")
SQUARES = (*NORMS, "square", "var", "var_mean", "std", "std_mean", "native_layer_norm",
           "native_group_norm", "_fused_rms_norm", "_cdist_forward", "_euclidean_dist", "mse_loss", "huber_loss",
           "smooth_l1_loss", *BATCH_NORMS)
SCATTERED = ("scatter_add", "scatter_reduce", "index_add", "index_put", "bincount", "_embedding_bag", "segment_reduce")

SOFTMAXES = ("_softmax", "_log_softmax", "softmax", "log_softmax")
SCANS = ("cumsum", "cumprod", "logcumsumexp", "cummax", "cummin")
ROW_NORMS = ("native_layer_norm", "native_group_norm", "_fused_rms_norm", *BATCH_NORMS)


def kind_of(names):
    """The problem's kind where its operations, in order, decide it; else None, and its shapes decide."""
    products = [place for place, name in enumerate(names) if name in PRODUCTS or name == "convolution"]
    softmaxes = [place for place, name in enumerate(names) if name in SOFTMAXES]
    if (any("scaled_dot_product" in name for name in names)
            or any(products[0] < place < products[-1] for place in softmaxes if products)):
        return "attention"
    if products:
        return "gemm"
    if any(name in SCANS for name in names):
        return "scan"
    return "row_reduction" if softmaxes or any(name in ROW_NORMS for name in names) else None


def named_arguments(function, arguments, named):
    """{name: value} of a call, by the operation's schema."""
    if not hasattr(function, "_schema"):
        return dict(named)
    names = [argument.name for argument in function._schema.arguments]
    return {**dict(zip(names, arguments)), **named}


def squares(name, given, tensors):
    """Whether an operation squares a number, or takes a higher power of it."""
    if name == "pow":
        exponent = given.get("exponent")
        return isinstance(exponent, (int, float)) and exponent > 1
    return name in SQUARES or (name == "mul" and len(tensors) == 2 and tensors[0] is tensors[1])


def sums_of(name, given, tensors, out):
    """The sums of an operation, each as extents whose product is the number of its terms."""
    first = tensors[0]
    if name in PRODUCTS:
        left = tensors[-2] if name.startswith(("addm", "baddb", "addb")) else first
        return [[*([left.shape[0]] if name == "addbmm" else []), left.shape[-1] if left.dim() else 1]]
    if name == "convolution":
        return [convolution_terms(given)]
    if "scaled_dot_product" in name:
        return [[first.shape[-1]], [tensors[1].shape[-2]]]
    if name == "_trilinear":
        return [list(first.shape)]
    if name == "_cdist_forward":
        return [[first.shape[-1]]]
    if name in REDUCTIONS:
        return [extents_along(first, given.get("dim"))]
    if name in LOSSES:
        return [list(given["target"].shape)] if out.dim() == 0 else []
    if name in ALONG:
        return [extents_along(first, given.get("dim"))]
    if name in POOLS:
        window = given["kernel_size"]
        window = list(window) if isinstance(window, (list, tuple)) else [window]
        return [window * int(name[-2]) if len(window) == 1 else window]
    if name in ADAPTIVE_POOLS:
        wanted = len(given["output_size"])
        return [[-(-size // count) for size, count in zip(first.shape[-wanted:], out.shape[-wanted:])]]
    if name == "native_layer_norm":
        return [list(given["normalized_shape"])]
    if name == "_fused_rms_norm":
        return [list(given["normalized_shape"])]
    if name in BATCH_NORMS and given.get("training", given.get("train", True)):
        return [[out.shape[0], *out.shape[2:]]]
    if name == "native_group_norm":
        return [[out.shape[1] // given["group"], *out.shape[2:]]]
    if name in SCATTERED:  # all may fall on one element
        source = given.get("src", given.get("source", given.get("values", given.get("indices", first))))
        return [list(source.shape)] if isinstance(source, torch.Tensor) else []
    return []


def convolution_terms(given):
    """C * kh * kw / groups of it; a transposed one has at most as many."""
    weight = given["weight"]
    if not given["transposed"]:
        return list(weight.shape[1:])
    return [weight.shape[0] // given["groups"], *weight.shape[2:]]


def extents_along(tensor, dimensions):
    """The extents of a tensor along some dimensions: a number, several, or None or none for all."""
    if isinstance(dimensions, int):
        dimensions = [dimensions]
    if tensor.dim() == 0:
        return []
    return [tensor.shape[at] for at in dimensions] if dimensions else list(tensor.shape)


def work_of(name, given, tensors, out, sums):
    """Floating-point operations, about."""
    numel, first = out.numel(), tensors[0].numel()
    if name == "convolution":
        weight = given["weight"]
        return 2 * math.prod(weight.shape[1:]) * (first if given["transposed"] else numel)
    if name in PRODUCTS or name == "_cdist_forward":
        return 2 * numel * math.prod(sums[0])
    if "scaled_dot_product" in name:
        return 4 * first * tensors[1].shape[-2]
    if name == "native_layer_norm" or name == "native_group_norm" or name in BATCH_NORMS:
        return 8 * numel
    if name in ALONG:
        return 5 * numel
    return first if name in REDUCTIONS + LOSSES + POOLS + ADAPTIVE_POOLS else numel
