#include "sandbox/gpu/run/library_role.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "sandbox/fault.h"
#include "sandbox/wire.h"

namespace sandbox::gpu::run {
namespace {
using core::Json;
using core::JsonView;

std::vector<int64_t> shape_of(const JsonView& tensor) {
  std::vector<int64_t> shape;
  for (const JsonView& extent : tensor.at("shape").items()) shape.push_back(extent.integer(1, INT32_MAX));
  if (shape.size() != 2) tensor.fail("is no matrix");
  return shape;
}

class GemmProduct {
 public:
  GemmProduct(const driver::Context& context, L2Flush& flush, GemmLibrary& library, std::vector<std::string> names)
      : context_(context), library_(library), names_(std::move(names)), timer_(context, flush), lent_(context) {}

  // Throws ContextLost.
  Json answer(const process::Message& message) {
    const JsonView json(message.json, "judge's request");
    const std::string op = json.at("op").string();
    try {
      if (op == "map") return map(json, message.fds);
      if (op == "plan") return {{"ok", true}};
      if (op == "go") return go(json);
      return timer_.time(0, false, {});
    } catch (const driver::DriverError& error) {
      if (context_->stream_synchronize(context_.stream()) != driver::kSuccess) throw ContextLost{fault(error.what())};
      return fault(error.what());
    } catch (const std::exception& error) {
      return fault(error.what());
    }
  }

  static Json fault(const std::string& message) {
    return {{"fault", to_json(Fault{FaultKind::unsupported, message, "", {}, {}, {}})}};
  }

 private:
  struct Operands {
    driver::DevicePtr a, b, c;
  };

  Json map(const JsonView& json, const std::vector<core::UniqueFd>& fds) {
    operands_.clear();
    lent_.map(json, fds);
    for (const std::vector<DeviceBuffer>& slot : lent_.slots()) {
      operands_.push_back({find(slot, names_[0]), find(slot, names_[1]), find(slot, names_[2])});
    }
    const JsonView a = json.at("tensors").at(names_[0]);
    const std::vector<int64_t> left = shape_of(a), right = shape_of(json.at("tensors").at(names_[1]));
    const auto dtype = core::enum_from_name<core::DType>(a.at("dtype").string());
    if (!dtype || left[1] != right[0]) a.fail("does not fit the other operand of the product");
    library_.prepare({*dtype, left[0], right[1], left[1]});
    tuned_ = false;
    return {{"ok", true}};
  }

  static driver::DevicePtr find(const std::vector<DeviceBuffer>& buffers, const std::string& name) {
    const auto found = std::ranges::find_if(buffers, [&](const DeviceBuffer& b) { return b.name == name; });
    if (found == buffers.end()) throw core::SystemError("the judge lent no " + name);
    return found->address;
  }

  Json go(const JsonView& json) {
    const auto slots = static_cast<size_t>(json.at("slots").integer(1, static_cast<int64_t>(operands_.size())));
    if (!tuned_) {  // not earlier: inputs get their values before the first launch
      library_.tune(operands_[0].a, operands_[0].b, timer_);
      tuned_ = true;
    }
    return timer_.time(slots, json.at("hot").boolean(),
                       [&](size_t slot) { library_.enqueue(operands_[slot].a, operands_[slot].b, operands_[slot].c); });
  }

  const driver::Context& context_;
  GemmLibrary& library_;
  std::vector<std::string> names_;  // of a, b and c
  LaunchTimer timer_;
  LentSlots lent_;
  std::vector<Operands> operands_;  // by slot
  bool tuned_ = false;
};

class LibraryRole {
 public:
  LibraryRole(const driver::Context& context, process::Channel& owner, MakeGemmLibrary make)
      : context_(context), owner_(owner), make_(std::move(make)), flush_(context) {}

  void answer(const process::Message& request) {
    const JsonView json(request.json, "owner's request");
    const std::string op = json.at("op").string();
    if (op == "about") {
      owner_.send(about(json.at("library").string()));
    } else if (op == "open") {
      open(json);
    } else {
      owner_.send({{"killed", true}});  // the judge has hung up
    }
  }

 private:
  GemmLibrary& library(const std::string& name) {
    std::unique_ptr<GemmLibrary>& made = libraries_[name];
    if (!made) made = make_(context_, name);
    return *made;
  }

  Json about(const std::string& name) {
    try {
      return {{"name", library(name).name()}};
    } catch (const std::exception& error) {
      return {{"missing", error.what()}};
    }
  }

  void open(const JsonView& json) {
    std::vector<std::string> names;
    for (const JsonView& name : json.at("gemm").items()) names.push_back(name.string());
    if (names.size() != 3) json.at("gemm").fail("must name a, b and c");
    GemmLibrary& chosen = library(json.at("library").string());
    serve_judge(owner_, ++products_, [&] {
      auto product = std::make_shared<GemmProduct>(context_, flush_, chosen, std::move(names));
      return [product](process::Message& request) { return product->answer(request); };
    });
  }

  const driver::Context& context_;
  process::Channel& owner_;
  MakeGemmLibrary make_;
  L2Flush flush_;
  std::map<std::string, std::unique_ptr<GemmLibrary>> libraries_;
  int products_ = 0;
};
}  // namespace

void serve_library_role(process::Channel& owner, const Platform& platform, int device_index,
                        const MakeGemmLibrary& make) {
  const driver::Driver driver = platform.open_driver();
  const driver::Context context(driver, device_index);
  LibraryRole role(context, owner, make);
  context.synchronize();
  owner.send({{"role", "library"}});
  process::serve(owner, [&](const process::Message& request) { role.answer(request); });
}

}  // namespace sandbox::gpu::run
