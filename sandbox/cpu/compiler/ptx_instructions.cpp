#include "sandbox/cpu/compiler/ptx_instructions.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <vector>

#include "core/text.h"

namespace sandbox::cpu::compiler {
namespace {
struct PtxFamily {
  std::string_view stem, endings;  // "-": the stem alone
  std::string_view header = "kw_ptx.h";
};
constexpr std::string_view kMatrices = "kw_matrix.h", kMemory = "kw_ptx_memory.h", kNarrow = "kw_ptx_narrow.h",
                           kHopper = "kw_hopper.h", kBlackwell = "kw_blackwell.h";
constexpr std::string_view kHalves = "f16 bf16 f16x2 bf16x2";
constexpr PtxFamily kPtxFamilies[] = {
    {"mov", "u32 b32 s32 f32 u64 b64"},
    {"cvt",
     "u32.u64 u64.u32 s64.s32 u32.u16 u16.u32 rn.f32.s32 rn.f32.u32 rn.f16.f32 rn.bf16.f32 f32.f16 f32.bf16 "
     "rz.f16.f32 rz.bf16.f32 rn.f16x2.f32 rn.bf16x2.f32 rz.f16x2.f32 rz.bf16x2.f32 rn.satfinite.e4m3x2.f32 "
     "rn.satfinite.e5m2x2.f32 rn.f16x2.e4m3x2 rn.f16x2.e5m2x2 "
     "rna.tf32.f32",
     kNarrow},
    {"cvta", "to.shared.u64 to.global.u64 shared.u64 global.u64", kMemory},
    {"prmt", "b32"},
    {"lop3", "b32"},
    {"bfe", "u32 s32"},
    {"bfi", "b32"},
    {"shf", "l.wrap.b32 r.wrap.b32"},
    {"brev", "b32"},
    {"popc", "b32"},
    {"clz", "b32"},
    {"mad", "lo.s32 lo.u32"},
    {"mul", "hi.u32 hi.s32 wide.u32 wide.s32 f32 rn.f32"},
    {"dp4a", "s32.s32 u32.u32"},
    {"fma", "rn.f32 rn.ftz.f32"},
    {"add", "f32 rn.f32"},
    {"sub", "f32 rn.f32"},
    {"max", "f32 NaN.f32"},
    {"min", "f32 NaN.f32"},
    {"ex2", "approx.f32 approx.ftz.f32"},
    {"lg2", "approx.f32 approx.ftz.f32"},
    {"rcp", "approx.f32 approx.ftz.f32 rn.f32"},
    {"rsqrt", "approx.f32 approx.ftz.f32"},
    {"sqrt", "approx.f32 approx.ftz.f32 rn.f32"},
    {"sin", "approx.f32"},
    {"cos", "approx.f32"},
    {"tanh", "approx.f32"},
    {"div", "approx.f32 full.f32"},
    {"atom", "add.v2.f32 add.v4.f32", kMemory},
    {"add", kHalves, kNarrow},
    {"sub", kHalves, kNarrow},
    {"mul", kHalves, kNarrow},
    {"neg", kHalves, kNarrow},
    {"abs", kHalves, kNarrow},
    {"max", kHalves, kNarrow},
    {"min", kHalves, kNarrow},
    {"max.NaN", kHalves, kNarrow},
    {"min.NaN", kHalves, kNarrow},
    {"fma.rn", kHalves, kNarrow},
    {"fma.rn.relu", kHalves, kNarrow},
    {"ex2", "approx.f16 approx.f16x2 approx.ftz.bf16 approx.ftz.bf16x2", kNarrow},
    {"tanh.approx", kHalves, kNarrow},
    {"atom.add", "f16 bf16 f16x2 bf16x2 v2.f16x2 v4.f16x2 v2.bf16x2 v4.bf16x2", kNarrow},
    {"ldmatrix.sync.aligned.m8n8",
     "x1.shared.b16 x2.shared.b16 x4.shared.b16 x1.trans.shared.b16 x2.trans.shared.b16 x4.trans.shared.b16",
     kMatrices},
    {"stmatrix.sync.aligned.m8n8",
     "x1.shared.b16 x2.shared.b16 x4.shared.b16 x1.trans.shared.b16 x2.trans.shared.b16 x4.trans.shared.b16",
     kMatrices},
    {"movmatrix.sync.aligned.m8n8", "trans.b16", kMatrices},
    {"mma.sync.aligned.m16n8k4.row.col", "f32.tf32.tf32.f32", kMatrices},
    {"mma.sync.aligned.m16n8k8.row.col", "f32.f16.f16.f32 f32.bf16.bf16.f32 f16.f16.f16.f16 f32.tf32.tf32.f32",
     kMatrices},
    {"mma.sync.aligned.m16n8k16.row.col",
     "f32.f16.f16.f32 f32.bf16.bf16.f32 f16.f16.f16.f16 s32.s8.s8.s32 s32.s8.u8.s32 s32.u8.s8.s32 s32.u8.u8.s32 "
     "satfinite.s32.s8.s8.s32 satfinite.s32.s8.u8.s32 satfinite.s32.u8.s8.s32 satfinite.s32.u8.u8.s32",
     kMatrices},
    {"mma.sync.aligned.m16n8k32.row.col",
     "f32.e4m3.e4m3.f32 f32.e4m3.e5m2.f32 f32.e5m2.e4m3.f32 f32.e5m2.e5m2.f32 "
     "s32.s8.s8.s32 s32.s8.u8.s32 s32.u8.s8.s32 s32.u8.u8.s32 "
     "satfinite.s32.s8.s8.s32 satfinite.s32.s8.u8.s32 satfinite.s32.u8.s8.s32 satfinite.s32.u8.u8.s32",
     kMatrices},
    {"bar", "warp.sync"},
    {"bar", "sync arrive", kHopper},
    {"barrier.cluster", "arrive arrive.relaxed wait", kHopper},
    {"mbarrier",
     "init.shared.b64 inval.shared.b64 arrive.shared.b64 arrive_drop.shared.b64 arrive.expect_tx.shared.b64 "
     "expect_tx.shared.b64 try_wait.shared.b64 test_wait.shared.b64 try_wait.parity.shared.b64 "
     "test_wait.parity.shared.b64 arrive.shared::cluster.b64 arrive.expect_tx.shared::cluster.b64",
     kHopper},
    {"cp.async",
     "ca.shared.global cg.shared.global commit_group wait_group wait_all mbarrier.arrive.shared.b64 "
     "mbarrier.arrive.noinc.shared.b64",
     kHopper},
    {"cp.async.bulk",
     "commit_group wait_group shared::cluster.global.mbarrier::complete_tx::bytes global.shared.bulk_group "
     "shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
     kHopper},
    {"cp.async.bulk.prefetch",
     "L2.global tensor.1d.L2.global tensor.2d.L2.global tensor.3d.L2.global tensor.4d.L2.global tensor.5d.L2.global",
     kHopper},
    {"cp.reduce.async.bulk.global.shared.bulk_group.add", "noftz.f16 noftz.bf16", kHopper},
    {"wgmma", "fence.sync.aligned commit_group.sync.aligned wait_group.sync.aligned", kHopper},
    {"tcgen05",
     "alloc.cta_group::1.sync.aligned.shared.b32 dealloc.cta_group::1.sync.aligned.b32 "
     "relinquish_alloc_permit.cta_group::1.sync.aligned mma.cta_group::1.kind::f16 "
     "commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 wait::ld.sync.aligned fence::before_thread_sync "
     "fence::after_thread_sync",
     kBlackwell},
    {"tcgen05.ld.sync.aligned.32x32b", "x1.b32 x2.b32 x4.b32 x8.b32 x16.b32 x32.b32 x64.b32 x128.b32", kBlackwell},
    {"setmaxnreg", "inc.sync.aligned.u32 dec.sync.aligned.u32", kHopper},
    {"elect", "sync", kHopper},
    {"mapa", "shared::cluster.u32", kHopper},
    {"fence", "proxy.async mbarrier_init.release.cluster acq_rel.cluster", kHopper},
    {"prefetch", "tensormap", kHopper},
    {"membar", "gl cta sys"},
    {"fence", "acq_rel.gpu acq_rel.cta"},
    {"activemask", "b32"},
    {"redux",
     "sync.add.s32 sync.add.u32 sync.max.s32 sync.min.s32 sync.max.u32 sync.min.u32 sync.and.b32 sync.or.b32 "
     "sync.xor.b32"},
    {"shfl.sync", "up.b32 down.b32 bfly.b32 idx.b32"},
    {"vote.sync", "all.pred any.pred uni.pred ballot.b32"},
    {"match", "any.sync.b32 any.sync.b64 all.sync.b32 all.sync.b64"},
    {"trap", "-"},
    {"nanosleep", "u32"},
    {"prefetch", "L1 L2"},
    {"prefetchu", "L1"},
    {"applypriority", "L2::evict_normal"},
    {"griddepcontrol", "wait launch_dependents", kHopper},
    {"createpolicy.fractional", "b64", kMemory},
};

// Those whose last part is a template argument.
constexpr std::string_view kIntegers = "u16 s16 u32 s32 u64 s64", kBits = "b16 b32 b64",
                           kNumbers = "b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64",
                           kInMemory = "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64";
constexpr PtxFamily kTypedFamilies[] = {
    {"mov", "pred b16 u16 s16 s64 f64"},
    {"setp.eq", kNumbers},
    {"setp.ne", kNumbers},
    {"setp.lt", kNumbers},
    {"setp.le", kNumbers},
    {"setp.gt", kNumbers},
    {"setp.ge", kNumbers},
    {"setp.lo", "u16 u32 u64"},
    {"setp.ls", "u16 u32 u64"},
    {"setp.hi", "u16 u32 u64"},
    {"setp.hs", "u16 u32 u64"},
    {"setp.eq.and", kNumbers},
    {"setp.ne.and", kNumbers},
    {"setp.lt.and", kNumbers},
    {"setp.le.and", kNumbers},
    {"setp.gt.and", kNumbers},
    {"setp.ge.and", kNumbers},
    {"setp.eq.or", kNumbers},
    {"setp.ne.or", kNumbers},
    {"setp.lt.or", kNumbers},
    {"setp.le.or", kNumbers},
    {"setp.gt.or", kNumbers},
    {"setp.ge.or", kNumbers},
    {"selp", kNumbers},
    {"and", "pred b16 b32 b64"},
    {"or", "pred b16 b32 b64"},
    {"xor", "pred b16 b32 b64"},
    {"not", "pred b16 b32 b64"},
    {"shl", kBits},
    {"shr", "b16 u16 s16 b32 u32 s32 b64 u64 s64"},
    {"add", kIntegers},
    {"sub", kIntegers},
    {"mul.lo", kIntegers},
    {"mad.lo", "u64 s64"},
    {"min", kIntegers},
    {"max", kIntegers},
    {"div", "u32 s32 u64 s64"},
    {"rem", "u32 s32 u64 s64"},
    {"neg", "s32 s64 f32"},
    {"abs", "s32 s64 f32"},
    {"ld", kInMemory, kMemory},
    {"ld.v2", kInMemory, kMemory},
    {"ld.v4", "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32", kMemory},
    {"ld.nc", kInMemory, kMemory},
    {"ld.nc.v2", kInMemory, kMemory},
    {"ld.nc.v4", "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32", kMemory},
    {"ld.relaxed", kInMemory, kMemory},
    {"ld.volatile", kInMemory, kMemory},
    {"ld.volatile.v2", kInMemory, kMemory},
    {"ld.volatile.v4", "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32", kMemory},
    {"st", kInMemory, kMemory},
    {"st.v2", kInMemory, kMemory},
    {"st.v4", "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32", kMemory},
    {"st.relaxed", kInMemory, kMemory},
    {"st.volatile", kInMemory, kMemory},
    {"st.volatile.v2", kInMemory, kMemory},
    {"st.volatile.v4", "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32", kMemory},
    {"atom.add", "u32 s32 u64 s64 f32 f64", kMemory},
    {"atom.min", "u32 s32 u64 s64", kMemory},
    {"atom.max", "u32 s32 u64 s64", kMemory},
    {"atom.and", "b32 b64", kMemory},
    {"atom.or", "b32 b64", kMemory},
    {"atom.xor", "b32 b64", kMemory},
    {"atom.exch", "b32 b64", kMemory},
    {"atom.cas", kBits, kMemory},
    {"atom.inc", "u32", kMemory},
    {"atom.dec", "u32", kMemory},
    {"cp.reduce.async.bulk.global.shared.bulk_group.add", "u32 s32 u64 f32 f64", kHopper},
    {"cp.reduce.async.bulk.global.shared.bulk_group.min", "u32 s32 u64 s64", kHopper},
    {"cp.reduce.async.bulk.global.shared.bulk_group.max", "u32 s32 u64 s64", kHopper},
};

struct PtxType {
  std::string_view name, type;
};
constexpr PtxType kPtxTypes[] = {
    {"pred", "bool"},
    {"b8", "unsigned char"},
    {"u8", "unsigned char"},
    {"s8", "signed char"},
    {"b16", "unsigned short"},
    {"u16", "unsigned short"},
    {"s16", "short"},
    {"f16", "unsigned short"},
    {"bf16", "unsigned short"},
    {"b32", "unsigned"},
    {"u32", "unsigned"},
    {"s32", "int"},
    {"f32", "float"},
    {"f16x2", "unsigned"},
    {"bf16x2", "unsigned"},
    {"b64", "unsigned long long"},
    {"u64", "unsigned long long"},
    {"s64", "long long"},
    {"f64", "double"},
};

// Where an address in brackets may lie.
constexpr PtxType kStateSpaces[] = {
    {"global", ""}, {"shared", "__kw_ptx_shared"}, {"shared::cluster", "__kw_ptx_cluster"}};

template <size_t n>
const PtxType* find_entry(const PtxType (&entries)[n], std::string_view name) {
  const auto* found = std::ranges::find(entries, name, &PtxType::name);
  return found == std::end(entries) ? nullptr : found;
}
bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// From each name to its header.
using Instructions = std::map<std::string, std::string_view, std::less<>>;
template <size_t n>
Instructions names_of(const PtxFamily (&families)[n]) {
  Instructions names;
  for (const PtxFamily& family : families) {
    for (const std::string& ending : core::split(family.endings, ' ')) {
      names.emplace(std::string(family.stem) + (ending == "-" ? "" : "." + ending), family.header);
    }
  }
  return names;
}
const Instructions& named_instructions() {
  static const auto names = names_of(kPtxFamilies);
  return names;
}
const Instructions& typed_instructions() {
  static const auto names = names_of(kTypedFamilies);
  return names;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string name;
  for (const std::string& part : parts) name += (name.empty() ? "" : ".") + part;
  return name;
}

// The function of the instruction of exactly this name.
bool find_function(const std::string& name, PtxForm& form) {
  if (const auto found = named_instructions().find(name); found != named_instructions().end()) {
    form.header = found->second;
    form.function = "__kw_ptx_" + ptx_name(name);
    return true;
  }
  const auto found = typed_instructions().find(name);
  if (found == typed_instructions().end()) return false;
  const size_t dot = name.rfind('.');
  form.header = found->second;
  form.function = "__kw_ptx_" + ptx_name(name.substr(0, dot)) + "<" + ptx_type(name.substr(dot + 1)) + ">";
  return true;
}

// ld, st, atom and red: finds out what the parts between instruction and type say.
std::optional<PtxForm> form_of_access(const std::vector<std::string>& parts) {
  const bool update = parts[0] == "atom" || parts[0] == "red", load = parts[0] == "ld";
  PtxForm form;
  std::string order, vector, operation;
  bool in_block = false;  // its scope
  for (size_t i = 1; i + 1 < parts.size(); ++i) {
    const std::string& part = parts[i];
    if (const PtxType* space = find_entry(kStateSpaces, part)) {
      form.address = space->type;
    } else if (is_one_of(part, {"volatile", "relaxed", "acquire", "release", "acq_rel"}) || (load && part == "nc")) {
      order = part;
    } else if (is_one_of(part, {"v2", "v4"})) {
      vector = part;
    } else if (part == "cta") {
      in_block = true;
    } else if (is_one_of(part, {"weak", "cluster", "gpu", "sys"}) || (update && part == "noftz") ||
               (!update && (is_one_of(part, {"ca", "cg", "cs", "lu", "cv", "wb", "wt"}) || part.starts_with("L1::") ||
                            part.starts_with("L2::")))) {
      continue;
    } else if (update && operation.empty()) {
      operation = part;
    } else {
      return std::nullopt;
    }
  }
  std::vector<std::string> name = {update ? "atom" : parts[0]};
  if (update) name.push_back(operation);
  // The checking build treats an ordered access to one element as atomic.
  const bool ordered = !order.empty() && order != "volatile" && order != "nc";
  if (order == "nc") {
    name.emplace_back("nc");
  } else if (!update && !order.empty()) {
    name.emplace_back(ordered && vector.empty() ? "relaxed" : "volatile");
  }
  if (!vector.empty()) name.push_back(vector);
  std::string type = parts.back();
  // The operation may follow the type: atom.global.v4.f32.add
  if (update && is_one_of(type, {"add", "min", "max"}) && !operation.empty()) std::swap(name[1], type);
  name.push_back(type);
  if (!find_function(joined(name), form)) return std::nullopt;
  // The checking build tells an update in the scope of the block from others.
  if (update && in_block) form.function.insert(std::min(form.function.find('<'), form.function.size()), "_block");
  // Whoever polls memory lets the others run.
  if (load && !order.empty() && order != "nc") form.before = "__kw_poll()";
  if (!load && is_one_of(order, {"release", "acq_rel"})) {
    form.before = in_block ? "__threadfence_block()" : "__threadfence()";
  }
  if (parts[0] == "red") form.nowhere = vector.empty() ? 1 : vector[1] - '0';
  return form;
}
}  // namespace

std::string ptx_name(std::string_view text) {
  std::string name(text);
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

std::string ptx_type(std::string_view type) {
  const PtxType* found = find_entry(kPtxTypes, type);
  return found == nullptr ? "" : std::string(found->type);
}

namespace {
// Boxes of a tensor map of 1 to 5 dimensions, in and out.
std::optional<PtxForm> form_of_box(const std::vector<std::string>& parts) {
  if (parts.size() < 5 || parts[4].size() != 2 || parts[4][0] < '1' || parts[4][0] > '5' || parts[4][1] != 'd') {
    return std::nullopt;
  }
  const std::string way = joined({parts.begin() + 5, parts.end()});
  if (!is_one_of(way, {"shared::cluster.global.mbarrier::complete_tx::bytes",
                       "shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
                       "global.shared.bulk_group"})) {
    return std::nullopt;
  }
  return PtxForm{std::string(kHopper), "__kw_ptx_" + ptx_name(joined(parts)), "", ""};
}

// wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
std::optional<PtxForm> form_of_product(const std::vector<std::string>& parts) {
  if (parts.size() != 8 || !parts[4].starts_with("m64n")) return std::nullopt;
  const std::string &sums = parts[5], &a = parts[6], &b = parts[7];
  const size_t k = parts[4].find('k');
  const std::string columns = parts[4].substr(4, k - 4);
  const bool wide = a == "f16" || a == "bf16", f8 = is_one_of(a, {"e4m3", "e5m2"}),
             integer = is_one_of(a, {"s8", "u8"});
  const bool types = wide || a == "tf32" ? a == b
                     : f8                ? is_one_of(b, {"e4m3", "e5m2"})
                                         : integer && is_one_of(b, {"s8", "u8"});
  const std::string depth = wide ? "k16" : a == "tf32" ? "k8" : "k32";
  if (k == std::string::npos || parts[4].substr(k) != depth || !types || sums != (integer ? "s32" : "f32") ||
      columns.empty() || columns.size() > 3 ||
      !std::ranges::all_of(columns, [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  return PtxForm{std::string(kHopper), "__kw_ptx_wgmma<" + columns + ", __kw_" + a + ", __kw_" + b + ">", "", ""};
}

// Without what changes nothing here: most orders and scopes of barriers, cache hints, kinds of cache policies, the
// rounding of halves.
void drop_idle_parts(std::vector<std::string>& parts) {
  const auto drop = [&](std::initializer_list<std::string_view> idle) {
    std::erase_if(parts, [&](const std::string& part) { return is_one_of(part, idle); });
  };
  if (parts[0] == "mbarrier") drop({"acquire", "release", "relaxed", "cta", "cluster"});
  if (parts[0] == "bar" || parts[0] == "barrier") {
    drop({"acquire", "release", "aligned", "cta"});
    if (parts.size() > 1 && parts[1] != "cluster") parts[0] = "bar";
  }
  if (parts[0] == "fence" && parts.size() > 2 && parts[1] == "proxy") drop({"shared", "global"});
  if (parts[0] == "createpolicy") {
    drop({"L2::evict_first", "L2::evict_normal", "L2::evict_unchanged"});  // lines that stay are what GPUs refuse
  }
  if (parts[0] == "cp") {
    drop({"L2::64B", "L2::128B", "L2::256B", "tile", "read", "weak"});
    if (parts.size() > 3 && parts[2] == "bulk") {
      const size_t to = parts[3] == "tensor" ? 5 : 3;  // into shared memory: the own block's is one of the cluster's
      if (to < parts.size() && parts[to] == "shared") parts[to] = "shared::cluster";
    }
  }
  if (is_one_of(parts[0], {"prefetch", "applypriority"})) {
    drop({"global"});
    if (parts[0] == "prefetch" && parts.size() > 1 && parts[1].starts_with("L2::evict_")) parts[1] = "L2";
  }
  if (is_one_of(parts[0], {"add", "sub", "mul"}) && is_one_of(parts.back(), {"f16", "bf16", "f16x2", "bf16x2"})) {
    drop({"rn"});
  }
}

std::optional<PtxForm> form_of_parts(std::vector<std::string> parts) {
  if (joined(parts).starts_with("cp.async.bulk.tensor.")) return form_of_box(parts);
  if (joined(parts).starts_with("wgmma.mma_async.sync.aligned.")) return form_of_product(parts);
  if (is_one_of(parts[0], {"ld", "st", "atom", "red"})) return form_of_access(parts);
  const bool matrix = is_one_of(parts[0], {"ldmatrix", "stmatrix"});
  if (const auto shape = std::ranges::find(parts, "m8n8");
      matrix && parts.size() > 3 && shape > parts.begin() + 3 && shape != parts.end()) {
    std::rotate(parts.begin() + 3, shape, shape + 1);  // x4.m8n8 is m8n8.x4
  }
  PtxForm form;
  if (!find_function(joined(parts), form)) return std::nullopt;
  // Functions of other instructions take shared addresses as they are.
  if (matrix) form.address = "__kw_ptx_shared";
  return form;
}
}  // namespace

std::optional<PtxForm> ptx_form(std::string_view mnemonic) {
  std::vector<std::string> parts = core::split(mnemonic, '.');
  if (parts.empty()) return std::nullopt;
  for (std::string& part : parts) {
    if (part == "shared::cta") part = "shared";
  }
  drop_idle_parts(parts);
  const bool policy = is_one_of(parts[0], {"cp", "ld", "st", "atom", "red"}) && std::erase(parts, "L2::cache_hint") > 0;
  std::optional<PtxForm> form = form_of_parts(std::move(parts));
  if (form) form->policy = policy;
  return form;
}

const std::set<std::string, std::less<>>& ptx_instructions() {
  static const auto instructions = [] {
    std::set<std::string, std::less<>> all;
    for (const auto& [name, header] : named_instructions()) all.insert(name);
    for (const auto& [name, header] : typed_instructions()) all.insert(name);
    return all;
  }();
  return instructions;
}

}  // namespace sandbox::cpu::compiler
