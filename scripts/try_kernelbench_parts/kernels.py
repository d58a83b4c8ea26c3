"""Plain kernels for KernelBench's level 1: solution(number, problem) writes one from the shapes of the imported problem.

A sum of many terms is one of parts of at most 1024 terms each. Sizes come from problem.json as expressions over the axes, so
that a kernel is right at every shape; strides, windows of pools, epsilons and the like stand in KERNELS, at the end.
"""

import json
from string import Template

THREADS = 256
TILE = 16

HELPERS = """
constexpr int kThreads = 256;
constexpr size_t kPart = 1024;

// term(0) + ... + term(count - 1), by one thread.
template <class Term>
__device__ float sum_in_parts(size_t count, Term term) {
  float sum = 0;
  for (size_t begin = 0; begin < count; begin += kPart) {
    float part = 0;
    for (size_t k = begin; k < count && k < begin + kPart; ++k) part += term(k);
    sum += part;
  }
  return sum;
}

template <class Merge>
__device__ float merged(float value, Merge merge) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] = merge(values[threadIdx.x], values[threadIdx.x + half]);
    __syncthreads();
  }
  value = values[0];
  __syncthreads();
  return value;
}

// The same by a block: every thread gets the sum.
template <class Term>
__device__ float sum_of(size_t count, Term term) {
  const size_t first = threadIdx.x, own = count > first ? (count - first - 1) / kThreads + 1 : 0;
  const float sum = sum_in_parts(own, [&](size_t k) { return term(first + k * kThreads); });
  return merged(sum, [](float a, float b) { return a + b; });
}

__device__ float largest_of(const float* x, size_t count) {
  float most = -INFINITY;
  for (size_t i = threadIdx.x; i < count; i += kThreads) most = fmaxf(most, x[i]);
  return merged(most, [](float a, float b) { return fmaxf(a, b); });
}
"""

ELEMENTS = Template("""
extern "C" __global__ void elements($tensors, float* out, int rows, int columns) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)rows * columns) return;
  const float v = $last[i];
  out[i] = $value;
}
""")

PRODUCT = Template("""
extern "C" __global__ void $name(const float* a, const float* b, float* out, int rows, int columns, int inner) {
  constexpr int kTile = 16, kTilesInPart = 64;
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  a += (size_t)blockIdx.z * rows * inner;
  b += (size_t)blockIdx.z * inner * columns;
  const int row = blockIdx.x * kTile + threadIdx.y, column = blockIdx.y * kTile + threadIdx.x;
  const int tiles = (inner + kTile - 1) / kTile;
  float sum = 0, part = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int ka = tile * kTile + threadIdx.x, kb = tile * kTile + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < rows && ka < inner ? a[$a] : 0;
    right[threadIdx.y][threadIdx.x] = column < columns && kb < inner ? b[$b] : 0;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) part += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
    if (tile % kTilesInPart == kTilesInPart - 1) {
      sum += part;
      part = 0;
    }
  }
  sum += part;
  if (row < rows && column < columns) out[((size_t)blockIdx.z * rows + row) * columns + column] = $value;
}
""")
LEFT = {"MK": "(size_t)row * inner + ka", "KM": "(size_t)ka * rows + row"}
RIGHT = {"KN": "(size_t)kb * columns + column", "NK": "(size_t)column * inner + kb"}

ROWS = Template("""
extern "C" __global__ void $name(const float* x, float* out, int columns) {
  x += (size_t)blockIdx.x * columns;
  out += (size_t)blockIdx.x * columns;
  $before
  const float sum = sum_of(columns, [&](size_t i) { return $term; });
  for (int i = threadIdx.x; i < columns; i += kThreads) out[i] = $value;
}
""")
MOST = "const float most = largest_of(x, columns);"

ROW_VALUES = Template("""
extern "C" __global__ void row_values($tensors, float* values, int columns) {
  $moves
  $lines
  if (threadIdx.x == 0) values[blockIdx.x] = value;
}
""")

TOTAL = Template("""
extern "C" __global__ void total(const float* values, float* out, int rows, int columns) {
  const float sum = sum_of(rows, [&](size_t i) { return values[i]; });
  if (threadIdx.x == 0) out[0] = $value;
}
""")

DIVIDE = """
extern "C" __global__ void divide(const float* x, const float* by, float* out, int rows, int columns) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (size_t)rows * columns) out[i] = x[i] / by[0];
}
"""

# A block has `segments` parts of x, each of `length` elements, and all other blocks' segments lie between them.
NORMALIZE = Template("""
extern "C" __global__ void normalize($tensors, float* out, int length, int segments, int area, int channels) {
  const size_t count = (size_t)length * segments;
  const auto at = [&](size_t i) { return (i / length * gridDim.x + blockIdx.x) * length + i % length; };
  const float mean = sum_of(count, [&](size_t i) { return x[at(i)]; }) / count;
  const float squares = sum_of(count, [&](size_t i) { return (x[at(i)] - mean) * (x[at(i)] - mean); });
  const float factor = rsqrtf(squares / count + 1e-5f);
  for (size_t i = threadIdx.x; i < count; i += kThreads) {
    const float y = (x[at(i)] - mean) * factor;
    const size_t channel = at(i) / area % channels;
    out[at(i)] = $value;
  }
}
""")

COLUMNS = Template("""
extern "C" __global__ void columns(const float* x, $dtype* out, int depth, int area) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= area) return;
  x += (size_t)blockIdx.y * depth * area + i;
  out += (size_t)blockIdx.y * $out_depth * area + i;
  const auto at = [&](size_t k) { return x[k * area]; };
  $lines
}
""")

# A thread has a chunk of the row; `starts` holds what stands before each chunk.
SCAN = Template("""
extern "C" __global__ void scan($tensors, float* out, int columns) {
  __shared__ $real starts[kThreads];
  const size_t begin_of_row = (size_t)blockIdx.x * columns;
  const int chunk = (columns + kThreads - 1) / kThreads;
  const int begin = min(columns, (int)threadIdx.x * chunk), end = min(columns, begin + chunk);
  const auto place = [&](int k) { return begin_of_row + $place; };
  const auto term = [&](int k) { return ($real)($term); };
  $real all = $unit;
  for (int k = begin; k < end; ++k) all = all $op term(k);
  starts[threadIdx.x] = all;
  __syncthreads();
  if (threadIdx.x == 0) {
    $real before = $unit;
    for (int t = 0; t < kThreads; ++t) {
      const $real next = before $op starts[t];
      starts[t] = before;
      before = next;
    }
  }
  __syncthreads();
  $real part = $unit;
  for (int k = begin; k < end; ++k) {
    const $real with = part $op term(k);
    out[place(k)] = starts[threadIdx.x] $op $written;
    part = with;
  }
}
""")

POOL = Template("""
extern "C" __global__ void pool(const float* x, float* out, int depth, int height, int width, int out_depth, int out_height,
                                int out_width) {
  constexpr int kWindow[] = {$window}, kStride[] = {$stride}, kPadding[] = {$padding}, kDilation[] = {$dilation};
  const int i = blockIdx.x * blockDim.x + threadIdx.x, out_area = out_height * out_width;
  if (i >= out_depth * out_area) return;
  x += (size_t)blockIdx.y * depth * height * width;
  float value = $unit;
  for (int d = 0; d < kWindow[0]; ++d) {
    const int z = i / out_area * kStride[0] - kPadding[0] + d * kDilation[0];
    for (int h = 0; h < kWindow[1]; ++h) {
      const int y = i % out_area / out_width * kStride[1] - kPadding[1] + h * kDilation[1];
      for (int w = 0; w < kWindow[2]; ++w) {
        const int column = i % out_width * kStride[2] - kPadding[2] + w * kDilation[2];
        if (z < 0 || z >= depth || y < 0 || y >= height || column < 0 || column >= width) continue;
        const float v = x[((size_t)z * height + y) * width + column];
        value = $merged;
      }
    }
  }
  out[(size_t)blockIdx.y * out_depth * out_area + i] = $result;
}
""")

CONVOLVE = Template("""
extern "C" __global__ void $name(const float* x, const float* weight, $bias_parameter float* out, int channels, int depth,
                                 int height, int width, int filters, int out_depth, int out_height, int out_width,
                                 int groups, int window_depth, int window_height, int window_width) {
  constexpr int kStride[] = {$stride}, kPadding[] = {$padding}, kDilation[] = {$dilation};
  const int i = blockIdx.x * blockDim.x + threadIdx.x, out_area = out_height * out_width;
  if (i >= out_depth * out_area) return;
  const int filter = blockIdx.y % filters, in_group = channels / groups, filters_in_group = filters / groups;
  const int group = filter / filters_in_group, window = window_depth * window_height * window_width;
  const size_t volume = (size_t)depth * height * width;
  x += ((size_t)(blockIdx.y / filters) * channels + group * in_group) * volume;
  weight += (size_t)$first_weight * window;
  // Where in the input an output's place and one of the window meet; negative where they do not.
  const auto source = [&](int place, int in_window, int d, int size) {
    $source
  };
  float sum = 0;
  for (int d = 0; d < window_depth; ++d) {
    const int z = source(i / out_area, d, 0, depth);
    if (z < 0) continue;
    for (int h = 0; h < window_height; ++h) {
      const int y = source(i % out_area / out_width, h, 1, height);
      if (y < 0) continue;
      for (int w = 0; w < window_width; ++w) {
        const int column = source(i % out_width, w, 2, width);
        if (column < 0) continue;
        const float* from = x + ((size_t)z * height + y) * width + column;
        const float* by = weight + (d * window_height + h) * window_width + w;
        sum += sum_in_parts(in_group, [&](size_t c) { return from[c * volume] * by[c * $next_weight * window]; });
      }
    }
  }
  out[(size_t)blockIdx.y * out_depth * out_area + i] = sum$bias;
}
""")
FORWARD = {
    "source": """const int at = place * kStride[d] - kPadding[d] + in_window * kDilation[d];
    return at < size ? at : -1;""",
    "first_weight": "(filter * in_group)", "next_weight": "1"}
TRANSPOSED = {
    "source": """const int at = place + kPadding[d] - in_window * kDilation[d];
    return at >= 0 && at % kStride[d] == 0 && at / kStride[d] < size ? at / kStride[d] : -1;""",
    "first_weight": "(group * in_group * filters_in_group + filter % filters_in_group)", "next_weight": "filters_in_group"}

C_TYPES = {"f32": "float", "i64": "int64_t", "bool": "bool"}


def extents(problem, name):
    return [str(extent) for extent in {**problem["inputs"], **problem["outputs"]}[name]["shape"]]


def times(some):
    return " * ".join(f"({one})" for one in some) or "1"


def blocks(extent, size=THREADS):
    return f"ceil_div({extent}, {size})"


def pointers(problem):
    """The inputs as parameters of a kernel, in order of name."""
    return ", ".join(f"const {C_TYPES[tensor['dtype']]}* {name}" for name, tensor in sorted(problem["inputs"].items()))


def launch(kernel, grid, args, block=(THREADS,)):
    return {"kernel": kernel, "grid": list(grid), "block": list(block), "args": list(args)}


def text_of(problem, launches, *code, workspace=None):
    plan = {"problem": problem["name"], **({"workspace": workspace} if workspace else {}), "launches": launches}
    return f"/* kernelwright\n{json.dumps(plan, indent=2)}\n*/\n" + "".join(code)


def elements(problem, value):
    """One thread for an element; v is that of the last input."""
    inputs, shape = sorted(problem["inputs"]), extents(problem, "out")
    code = ELEMENTS.substitute(tensors=pointers(problem), last=inputs[-1], value=value)
    return text_of(problem, [launch("elements", [blocks(times(shape))], [*inputs, "out", *shape])], code)


def product_launch(kernel, tensors, rows, columns, inner, batches="1"):
    return launch(kernel, [blocks(rows, TILE), blocks(columns, TILE), batches], [*tensors, rows, columns, inner], (TILE, TILE))


def product(problem, a="MK", b="KN", value="sum"):
    """Matrices, or a stack of them with one matrix or a stack."""
    left, right = extents(problem, "A"), extents(problem, "B")
    stacked = len(right) == 3
    rows = left[1] if stacked or a == "KM" else times(left[:-1])
    columns = right[-2] if b == "NK" else right[-1]
    inner = left[0] if a == "KM" else left[-1]
    code = PRODUCT.substitute(name="multiply", a=LEFT[a], b=RIGHT[b], value=value)
    made = product_launch("multiply", ["A", "B", "out"], rows, columns, inner, left[0] if stacked else "1")
    return text_of(problem, [made], code)


def attention(problem):
    """The scores of all queries and keys, their softmax, and its product with the values."""
    *stack, queries, width = extents(problem, "Q")
    keys = extents(problem, "K")[-2]
    code = [PRODUCT.substitute(name="scores_of", a=LEFT["MK"], b=RIGHT["NK"], value="sum * rsqrtf(inner)"),
            ROWS.substitute(name="soften", before=MOST, term="expf(x[i] - most)", value="expf(x[i] - most) / sum"),
            PRODUCT.substitute(name="mix", a=LEFT["MK"], b=RIGHT["KN"], value="sum")]
    launches = [product_launch("scores_of", ["Q", "K", "scores"], queries, keys, width, times(stack)),
                launch("soften", [times([*stack, queries])], ["scores", "scores", keys]),
                product_launch("mix", ["scores", "V", "out"], queries, width, keys, times(stack))]
    return text_of(problem, launches, HELPERS, *code, workspace={"scores": {"bytes": times(["4", *stack, queries, keys])}})


def rows(problem, term, value, before=""):
    """One block for a row."""
    count, columns = extents(problem, "x")
    code = ROWS.substitute(name="change_rows", before=before, term=term, value=value)
    return text_of(problem, [launch("change_rows", [count], ["x", "out", columns])], HELPERS, code)


def row_values(problem, lines):
    """(code, rows, columns, names of the inputs): a kernel that makes one number of each row of the first input."""
    inputs = sorted(problem["inputs"])
    shape = extents(problem, inputs[0])
    half = len(shape) // 2
    moves = "\n  ".join(f"{name} += (size_t)blockIdx.x * columns;" for name in inputs if extents(problem, name) == shape)
    code = ROW_VALUES.substitute(tensors=pointers(problem), moves=moves, lines=lines)
    return code, times(shape[:half]), times(shape[half:]), inputs


def dot_rows(problem, lines):
    code, count, columns, inputs = row_values(problem, lines)
    return text_of(problem, [launch("row_values", [count], [*inputs, "out", columns])], HELPERS, code)


def loss(problem, lines, total):
    """One block for a row, then one for all rows."""
    code, count, columns, inputs = row_values(problem, lines)
    launches = [launch("row_values", [count], [*inputs, "per_row", columns]),
                launch("total", ["1"], ["per_row", "out", count, columns])]
    return text_of(problem, launches, HELPERS, code, TOTAL.substitute(value=total),
                   workspace={"per_row": {"bytes": times(["4", count])}})


def divide_by_norm(problem, lines, total):
    code, count, columns, inputs = row_values(problem, lines)
    launches = [launch("row_values", [count], [*inputs, "per_row", columns]),
                launch("total", ["1"], ["per_row", "norm", count, columns]),
                launch("divide", [blocks(times([count, columns]))], [*inputs, "norm", "out", count, columns])]
    return text_of(problem, launches, HELPERS, code, TOTAL.substitute(value=total), DIVIDE,
                   workspace={"per_row": {"bytes": times(["4", count])}, "norm": {"bytes": "4"}})


def normalize(problem, grid, length, segments, value):
    """One block for a set; `grid`, `length` and `segments` are formats of the extents of x."""
    shape = extents(problem, "x")
    inputs = sorted(problem["inputs"], key=lambda name: name != "x")
    tensors = ", ".join("const float* " + name.split("_")[-1] for name in inputs)
    code = NORMALIZE.substitute(tensors=tensors, value=value)
    args = [*inputs, "out", length.format(*shape), segments.format(*shape), times(shape[2:]), shape[1]]
    return text_of(problem, [launch("normalize", [grid.format(*shape)], args)], HELPERS, code)


def columns(problem, lines, keeps_depth=False):
    """One thread for what lies along the second dimension."""
    outer, depth, *area = extents(problem, "x")
    dtype = C_TYPES[problem["outputs"]["out"]["dtype"]]
    code = COLUMNS.substitute(dtype=dtype, out_depth="depth" if keeps_depth else "1", lines=lines)
    made = launch("columns", [blocks(times(area)), outer], ["x", "out", depth, times(area)])
    return text_of(problem, [made], HELPERS, code)


def scan(problem, term="x[place(k)]", place="k", written="with", op="+", unit="0", real="float"):
    """One block for a row."""
    inputs = sorted(problem["inputs"])
    count, row = extents(problem, "x")
    code = SCAN.substitute(tensors=pointers(problem), term=term, place=place, written=written, op=op, unit=unit, real=real)
    return text_of(problem, [launch("scan", [count], [*inputs, "out", row])], HELPERS, code)


def three(value, rank, filler):
    """A number for all dimensions, or one for each, as the text of three."""
    values = list(value) if isinstance(value, tuple) else [value] * rank
    return ", ".join(str(one) for one in [filler] * (3 - rank) + values)


def volume(shape):
    return ["1"] * (5 - len(shape)) + shape[2:]


def pool(problem, window, stride, padding, dilation=1, largest=True):
    """One thread for an output."""
    shape, out = extents(problem, "x"), extents(problem, "out")
    rank = len(shape) - 2
    code = POOL.substitute(
        window=three(window, rank, 1), stride=three(stride, rank, 1), padding=three(padding, rank, 0),
        dilation=three(dilation, rank, 1), unit="-INFINITY" if largest else "0",
        merged="fmaxf(value, v)" if largest else "value + v", result="value" if largest else f"value / {window ** rank}")
    grid = [blocks(times(volume(out))), times(out[:2])]
    return text_of(problem, [launch("pool", grid, ["x", "out", *volume(shape), *volume(out)])], code)


def convolution(problem, kernel, names, shape, out, transposed=False, stride=1, padding=0, dilation=1):
    """(code, launch) of one thread for an output; `names`: of the image, the weight, perhaps a bias, and the output."""
    weight = extents(problem, names[1])
    rank, biased = len(shape) - 2, len(names) == 4
    code = CONVOLVE.substitute(
        TRANSPOSED if transposed else FORWARD, name=kernel, stride=three(stride, rank, 1), padding=three(padding, rank, 0),
        dilation=three(dilation, rank, 1), bias_parameter="const float* bias," if biased else "",
        bias=" + bias[filter]" if biased else "")
    groups = f"({out[1] if transposed else shape[1]}) / ({weight[1]})"
    args = [*names, shape[1], *volume(shape), out[1], *volume(out), groups, *volume(weight)]
    return code, launch(kernel, [blocks(times(volume(out))), times(out[:2])], args)


def convolve(problem, *constants):
    weight, *bias = sorted((name for name in problem["inputs"] if name != "x"), key=lambda name: not name.endswith("_weight"))
    code, made = convolution(problem, "convolve", ["x", weight, *bias, "out"], extents(problem, "x"),
                             extents(problem, "out"), *constants)
    return text_of(problem, [made], HELPERS, code)


def separable(problem, *constants):
    """A convolution of each channel, then one of all channels at each place."""
    shape, out = extents(problem, "x"), extents(problem, "out")
    between = [out[0], shape[1], *out[2:]]
    deep, wide = convolution(problem, "each_channel", ["x", "depthwise_weight", "between"], shape, between, *constants)
    point, last = convolution(problem, "all_channels", ["between", "pointwise_weight", "out"], between, out)
    return text_of(problem, [wide, last], HELPERS, deep, point, workspace={"between": {"bytes": times(["4", *between])}})


def lines(*some):
    return "\n  ".join(some)


BEST = lines("int best = 0;", "for (int k = 1; k < depth; ++k) {{", "  if (at(k) {} at(best)) best = k;", "}}", "*out = {};")
FAR = "const float {} = sqrtf(sum_of(columns, [&](size_t i) {{ const float d = anchor[i] - {}[i] + 1e-6f; return d * d; }}));"
PLAIN, TRANSPOSE = False, True

# By the number of the file: what makes its kernel, and with which constants.
KERNELS = {
    1: (product,), 2: (product,), 3: (product,), 6: (product,), 7: (product,), 8: (product,), 9: (product,), 10: (product,),
    11: (product,), 13: (product,),
    4: (dot_rows, "const float value = sum_of(columns, [&](size_t k) { return A[k] * B[k]; });"),
    5: (elements, "v * 3.14f"),
    12: (elements, "A[i / columns] * v"),
    14: (product, "MK", "KN", "row <= column ? sum : 0"),
    15: (product, "MK", "KN", "row >= column ? sum : 0"),
    16: (product, "KM"), 17: (product, "MK", "NK"), 18: (product, "KM", "NK"),
    19: (elements, "v > 0 ? v : 0"),
    20: (elements, "v > 0 ? v : 0.01f * v"),
    21: (elements, "1 / (1 + expf(-v))"),
    22: (elements, "tanhf(v)"),
    23: (rows, "expf(x[i] - most)", "expf(x[i] - most) / sum", MOST),
    24: (rows, "expf(x[i] - most)", "x[i] - most - logf(sum)", MOST),
    25: (elements, "v / (1 + expf(-v))"),
    26: (elements, "0.5f * v * erfcf(-0.70710678f * v)"),
    27: (elements, "1.05070098f * (v > 0 ? v : 1.67326324f * expm1f(v))"),
    28: (elements, "fminf(fmaxf(v + 3, 0), 6) / 6"),
    29: (elements, "v > 20 ? v : log1pf(expf(v))"),
    30: (elements, "v / (1 + fabsf(v))"),
    31: (elements, "v > 0 ? v : expm1f(v)"),
    32: (elements, "fminf(fmaxf(v, -1), 1)"),
    33: (normalize, "{1}", "({2}) * ({3})", "{0}", "y * weight[channel] + bias[channel]"),
    34: (normalize, "({0}) * ({1})", "({2}) * ({3})", "1", "y"),
    35: (normalize, "({0}) * 8", "({1}) / 8 * ({2}) * ({3})", "1", "y * weight[channel] + bias[channel]"),
    36: (columns, lines("const float mean = sum_in_parts(depth, [&](size_t k) { return at(k) * at(k); }) / depth;",
                        "const float root = sqrtf(mean + 1e-5f);",
                        "for (size_t k = 0; k < depth; ++k) out[k * area] = at(k) / root;"), True),
    37: (divide_by_norm, "const float value = sum_of(columns, [&](size_t i) { return x[i] * x[i]; });", "sqrtf(sum)"),
    38: (rows, "fabsf(x[i])", "x[i] / (sum / columns)"),
    39: (rows, "x[i] * x[i]", "x[i] / sqrtf(sum)"),
    40: (normalize, "{0}", "({1}) * ({2}) * ({3})", "1", "y * weight[i] + bias[i]"),
    41: (pool, 8, 1, 4, 3), 42: (pool, 4, 1, 1, 1), 43: (pool, 3, 2, 1, 3),
    44: (pool, 8, 1, 4, 1, False), 45: (pool, 11, 11, 0, 1, False), 46: (pool, 3, 2, 1, 1, False),
    47: (columns, "*out = sum_in_parts(depth, at);"),
    48: (columns, "*out = sum_in_parts(depth, at) / depth;"),
    49: (columns, BEST.format(">", "at(best)")), 51: (columns, BEST.format(">", "best")),
    52: (columns, BEST.format("<", "best")), 53: (columns, BEST.format("<", "at(best)")),
    50: (convolve, PLAIN, 4, 2),
    54: (convolve,), 55: (convolve,), 56: (convolve,), 59: (convolve,), 60: (convolve,), 62: (convolve,), 63: (convolve,),
    66: (convolve,), 67: (convolve,),
    57: (convolve, TRANSPOSE), 58: (convolve, TRANSPOSE), 61: (convolve, TRANSPOSE), 64: (convolve, TRANSPOSE),
    65: (convolve, TRANSPOSE), 68: (convolve, TRANSPOSE), 69: (convolve, TRANSPOSE), 70: (convolve, TRANSPOSE),
    71: (convolve, TRANSPOSE),
    72: (convolve, TRANSPOSE, 2, (1, 2, 3)),
    73: (convolve, TRANSPOSE, 2, 1),
    74: (convolve, TRANSPOSE, 1, 0, 3),
    75: (convolve, TRANSPOSE, (2, 3), (1, 2), (2, 1)),
    76: (convolve, PLAIN, 3, 0, 4),
    77: (convolve, TRANSPOSE, 2, 1, 2),
    78: (convolve, TRANSPOSE, 1, (1, 3)),
    79: (convolve, TRANSPOSE, 2, 1, 2),
    80: (convolve, PLAIN, 1, (2, 4), (2, 3)),
    81: (convolve, TRANSPOSE, 5, 1, 2),
    82: (convolve,), 83: (convolve,), 84: (convolve,), 85: (convolve,), 87: (convolve,),
    86: (separable, PLAIN, 1, 1, 1),
    88: (elements, "v / (1 + expf(-1.59576912f * (v + 0.044715f * v * v * v)))"),
    89: (scan,),
    90: (scan, "x[place(k)]", "k", "with", "*", "1", "double"),
    91: (scan, "x[place(k)]", "(columns - 1 - k)"),
    92: (scan, "x[place(k)]", "k", "part"),
    93: (scan, "mask[place(k)] ? x[place(k)] : 0"),
    94: (loss, lines("const float value = sum_of(columns, [&](size_t i) {",
                     "  return (predictions[i] - targets[i]) * (predictions[i] - targets[i]);", "});"),
         "sum / rows / columns"),
    95: (loss, lines("const float most = largest_of(predictions, columns);",
                     "const float sum = sum_of(columns, [&](size_t i) { return expf(predictions[i] - most); });",
                     "const float value = logf(sum) - (predictions[targets[blockIdx.x]] - most);"), "sum / rows"),
    96: (loss, lines("const float value = sum_of(columns, [&](size_t i) {",
                     "  const float d = fabsf(predictions[i] - targets[i]);", "  return d < 1 ? 0.5f * d * d : d - 0.5f;",
                     "});"), "sum / rows / columns"),
    97: (attention,),
    98: (loss, lines("const float value = sum_of(columns, [&](size_t i) {",
                     "  return targets[i] > 0 ? targets[i] * (logf(targets[i]) - logf(predictions[i])) : 0;", "});"),
         "sum / rows"),
    99: (loss, lines(FAR.format("near", "positive"), FAR.format("far", "negative"),
                     "const float value = fmaxf(0, 1 + near - far);"), "sum / rows"),
    100: (loss, lines("const float value = sum_of(columns, [&](size_t i) {",
                      "  return fmaxf(0, 1 - predictions[i] * targets[i]);", "});"), "sum / rows / columns"),
}


def solution(number, problem):
    """The text of a kernel for file `number` of level 1, imported as `problem` (its problem.json), or None."""
    if number not in KERNELS:
        return None
    make, *constants = KERNELS[number]
    return make(problem, *constants)
