// How much of its cases a long test takes.
#ifndef ANTEROOM_TESTS_SUPPORT_SAMPLED_H_
#define ANTEROOM_TESTS_SUPPORT_SAMPLED_H_

namespace anteroom {

// Sanitizers and coverage make a run ten times as long: there the longest tests take a sample of
// the cases that a plain build goes through one by one.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(ANTEROOM_SAMPLED)
inline constexpr bool kSampled = true;
#else
inline constexpr bool kSampled = false;
#endif

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_SAMPLED_H_
