// The tasks of an application as mappers see them.
#pragma once

#include <memory>

#include "app/data.h"
#include "unit/mapper/hooks.h"

namespace groma::test {

// The task of a launch; `data` outlives it.
std::unique_ptr<FakeTask> fake_task(const app::Data& data, const app::DistinctLaunch& use);

}  // namespace groma::test
