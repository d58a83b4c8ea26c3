// The tools and resources of Kernelwright, as tool.h describes them.
#pragma once

#include <vector>

#include "agent/mcp/tool.h"
#include "agent/mcp/workspace.h"

namespace agent::mcp {

// problems, problem, import_problem
std::vector<Tool> problem_tools(Workspace& workspace);
// check, judge, profile
std::vector<Tool> judging_tools(Workspace& workspace);
// best, solution, similar, prompt
std::vector<Tool> result_tools(Workspace& workspace);
// The formats of solutions and problems, technique cards, facts about the device.
std::vector<Resource> resources_of(Workspace& workspace);

// All of it. The workspace must outlive it.
Offer offer_of(Workspace& workspace);

}  // namespace agent::mcp
