// ExplainQuery against an application.
#pragma once

#include "groma/explain.h"

namespace groma {

// Whether the query asks about this task, this requirement of it.
bool asks(const ExplainQuery& query, const AppTask& task);
bool asks(const ExplainQuery& query, const AppTask& task, std::size_t position);

// Whether there is what it asks about; `diags` says what is not.
bool check_query(const ExplainQuery& query, const Application& app, Diagnostics& diags);

}  // namespace groma
