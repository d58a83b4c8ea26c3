#include "results/lineage_cost.h"

#include "results/archive_state.h"

namespace results {
namespace {
void add(Cost& sum, const Cost& cost) {
  sum.replies += cost.replies;
  sum.tokens += cost.tokens;
  sum.dollars += cost.dollars;
  sum.all_priced = sum.all_priced && cost.all_priced;
}
}  // namespace

const Descents::Step& Descents::step(int64_t solution) {
  const auto [at, fresh] = steps_.try_emplace(solution);
  Step& step = at->second;
  if (!fresh) return step;
  Statement row = archive_.state().database.prepare(R"sql(
SELECT s.parent, r.id, q.model, json_extract(q.proposal, '$.operator'),
       r.input + r.cache_read + r.cache_written + r.output, r.dollars
FROM solutions s LEFT JOIN replies r ON r.id = (SELECT min(reply) FROM proposed WHERE solution = s.id)
     LEFT JOIN requests q ON q.id = r.request
WHERE s.id = ?)sql");
  row.bind(solution);
  if (!row.step()) return step;
  if (!row.is_null(0)) step.parent = row.integer(0);
  if (row.is_null(1)) return step;
  step.reply = row.integer(1);
  step.model = row.text(2);
  step.task = row.text(3);
  step.cost = {1, row.integer(4), row.real(5), !row.is_null(5)};
  return step;
}

Descent Descents::of(int64_t solution) {
  Descent descent;
  std::set<int64_t> visited, replies;  // an archive that was put together from others could name a circle
  for (std::optional<int64_t> at = solution; at && visited.insert(*at).second;) {
    const Step& here = step(*at);
    if (*at == solution) {
      descent.model = here.model;
      descent.task = here.task;
      descent.parent = here.parent;
      descent.own = here.cost;
    } else {
      ++descent.ancestors;
    }
    if (here.reply && replies.insert(*here.reply).second) add(descent.lineage, here.cost);
    at = here.parent;
  }
  return descent;
}

}  // namespace results
