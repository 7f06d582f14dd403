// The engine against the model. A difference throws std::logic_error.
// Threads: none.
#ifndef ANTEROOM_TESTS_SIM_COMPARE_H_
#define ANTEROOM_TESTS_SIM_COMPARE_H_

#include <vector>

#include "server/engine/engine.h"
#include "tests/sim/model.h"

namespace anteroom::sim {

// After one record: whom it touched, where they stand, and the counts.
void CompareTouched(const Engine& engine, const Model& model, const Names& names,
                    const Effects& effects, const std::vector<Change>& changes);

// Everything that the log makes, one by one, and the engine's own recount of itself.
void CompareAll(Engine& engine, const Model& model, const Names& names);

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_COMPARE_H_
