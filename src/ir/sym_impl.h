// Inside of SymStore: nodes, interning and the canonicaliser. Only src/ir/sym*.cc include this.
//
// Integers are polynomials over atoms: a Sum is a constant plus terms `coef * mono`, a mono is a
// product of powers of atoms without coefficient, an atom is a symbol, quotient, remainder,
// maximum, … An invalid ExprId (no value) is the poison of overflow, division by zero and size.
#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include "absl/container/flat_hash_set.h"
#include "ir/sym.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"

namespace tare {

struct Expr {
  ExprKind kind;
  ExprType type;
  uint8_t depth;  // of nesting
  bool exact;     // a product with a factor whose symbol has a known divisor
  uint16_t size;  // nodes of the tree
  uint32_t num_args;
  const ExprId* args;
  union {
    int64_t integer;               // kIntConst, kBoolConst
    double real;                   // kFloatConst
    const SymbolRow* symbol;       // kSymbol
    const std::string_view* name;  // kFloatCall
  };
  size_t hash;
  ExprId base;      // kMul with a coefficient: the product without it
  int64_t divisor;  // the value is a multiple of it; 0 for the constant 0
  Range range;
};

struct ExprKey {
  ExprKind kind;
  ExprType type;
  std::span<const ExprId> args = {};
  int64_t integer = 0;  // value, or the bits of a double
  const SymbolRow* symbol = nullptr;
  std::string_view name = {};
};

struct Term {
  ExprId mono;
  int64_t coef;
};
// Terms in structural order of their monos, coefficients not 0. valid = false: poison.
struct Sum {
  llvm::SmallVector<Term, 8> terms;
  int64_t constant = 0;
  bool valid = true;
};
using ExprMap = absl::flat_hash_map<ExprId, ExprId>;
using ExprList = llvm::SmallVector<ExprId, 8>;

// 64-bit arithmetic that tells.
inline bool AddTo(int64_t& a, int64_t b) { return !__builtin_add_overflow(a, b, &a); }
inline bool MulTo(int64_t& a, int64_t b) { return !__builtin_mul_overflow(a, b, &a); }
int64_t FloorDivInt(int64_t a, int64_t b);  // b != 0; INT64_MIN / -1 saturates
int64_t FloorModInt(int64_t a, int64_t b);
int64_t Gcd(int64_t a, int64_t b);  // of magnitudes; gcd(0, x) = |x|

// Ranges saturate: the ends INT64_MIN and INT64_MAX are infinities.
Range AddRange(Range a, Range b);
Range MulRange(Range a, Range b);
Range NegRange(Range a);
Range FloorDivRange(Range a, Range b);
Range ModRange(Range a, Range b);
Range Intersect(Range a, Range b);

// The one integer function without an own kind: sizes then strides describe dense memory.
inline constexpr std::string_view kIndicatorName = "IsNonOverlappingAndDenseIndicator";
std::string FloatText(double value);                         // shortest that reads back, with a point or an exponent
std::optional<int64_t> RoundFloat(ExprKind kind, double x);  // kTrunc kFloor kCeil kRound
std::optional<double> EvaluateCall(std::string_view name, double x);  // kFloatCall

struct SymStore::Impl {
  explicit Impl();
  ~Impl();

  // --- store (sym_store.cc)
  const Expr& at(ExprId id) const {
    const uint32_t shifted = id.index + kFirstChunk;
    const int high = 31 - __builtin_clz(shifted);
    return chunks[high - kFirstChunkLog].load(std::memory_order_acquire)[shifted - (1u << high)];
  }
  ExprId Intern(const ExprKey& key);
  std::span<const ExprId> args(ExprId id) const { return {at(id).args, at(id).num_args}; }
  ExprId Int(int64_t value) {
    const auto small = static_cast<uint64_t>(value) - static_cast<uint64_t>(kFirstSmallInt);
    if (small >= small_ints.size()) return NewInt(value);
    const ExprId known{small_ints[small].load(std::memory_order_acquire)};
    if (known.index != 0) return known;
    const ExprId made = NewInt(value);
    small_ints[small].store(made.index, std::memory_order_release);
    return made;
  }
  ExprId NewInt(int64_t value) { return Intern({ExprKind::kIntConst, ExprType::kInt, {}, value}); }
  ExprId Bool(bool value) { return value ? true_id : false_id; }
  ExprId Float(double value);
  ExprId Symbol(const SymbolRow& row);
  bool IsConst(ExprId id) const { return at(id).kind == ExprKind::kIntConst; }
  bool IsConst(ExprId id, int64_t value) const { return IsConst(id) && at(id).integer == value; }
  // Order by structure and name; the same in every run. 0 only for the same id.
  int Compare(ExprId a, ExprId b) const;
  void SortUnique(ExprList& list) const;

  // --- sums and products (sym_sum.cc)
  Term TermOf(ExprId e) const;
  Sum ToSum(ExprId e) const;
  ExprId FromSum(Sum sum);
  Sum AddSums(const Sum& a, const Sum& b) const;
  Sum ScaleSum(Sum a, int64_t factor) const;
  Sum MulSums(const Sum& a, const Sum& b);
  ExprId MulMono(ExprId a, ExprId b);
  ExprId ScaleMono(ExprId mono, int64_t coef);
  std::span<const ExprId> Factors(const ExprId& mono) const;
  ExprId Add(ExprId a, ExprId b);
  ExprId Sub(ExprId a, ExprId b);
  ExprId Mul(ExprId a, ExprId b);
  ExprId Neg(ExprId a);
  ExprId Pow(ExprId a, ExprId b);
  void CollectTerms(Sum& sum) const;
  std::pair<ExprId, int64_t> PowerOf(ExprId factor) const;  // atom, exponent
  ExprId MakePower(ExprId atom, int64_t exponent);
  ExprId MonoOf(const ExprList& factors);

  // --- exact quotients (sym_exact.cc)
  struct ExactFactor {
    ExprId root;
    int64_t exponent, den;
  };
  ExactFactor SplitExact(ExprId factor) const;
  bool ExactRoots(ExprId mono, llvm::SmallVectorImpl<ExactFactor>& roots, int64_t& den) const;
  Term ExactProduct(llvm::ArrayRef<ExactFactor> roots, int64_t num, int64_t den);
  bool NormalizeExact(Sum& sum);
  int64_t DivisorOf(const Term& term) const;        // what divides the term for sure; >= 1
  Term ExactQuotient(const Term& term, int64_t k);  // term / k where k divides DivisorOf(term)

  // --- division (sym_div.cc)
  ExprId FloorDiv(ExprId a, ExprId b);
  ExprId Mod(ExprId a, ExprId b);
  ExprId CeilDiv(ExprId a, ExprId b) { return Neg(FloorDiv(Neg(a), b)); }
  ExprId FloorDivByConst(Sum a, int64_t k);
  ExprId ModByConst(Sum a, int64_t k);
  std::optional<ExprId> DivideMono(ExprId a, ExprId b);  // the mono x with x * b = a
  ExprId SplitBySum(Sum& a, const Sum& b);               // a = result * b + a'
  bool ScaleExact(Sum& a, Sum& b);
  bool CancelCommon(Sum& a, Sum& b);

  // --- maximum and minimum (sym_minmax.cc)
  ExprId MinMax(ExprKind kind, std::span<const ExprId> args);

  // --- booleans (sym_bool.cc)
  ExprId Compare(ExprKind kind, ExprId a, ExprId b);  // kEq kNe kLt kLe
  ExprId CompareOther(ExprKind kind, ExprId a, ExprId b);
  ExprId Not(ExprId a);
  ExprId AndOr(ExprKind kind, std::span<const ExprId> args);
  ExprId Where(ExprId condition, ExprId yes, ExprId no);

  // --- floats (sym_float.cc)
  ExprId ToFloat(ExprId a);
  void FoldConstants(ExprKind kind, ExprList& list);
  ExprId MakeFloat(ExprKind kind, std::span<const ExprId> args, std::string_view name);
  ExprId Make(ExprKind kind, std::span<const ExprId> args, std::string_view name);

  // --- ranges and bounds (sym_range.cc, sym_bounds.cc)
  Range RangeOfKey(const ExprKey& key) const;
  int64_t DivisorOfKey(const ExprKey& key) const;
  Range RangeOf(ExprId e) const { return at(e).range; }
  Range IntervalOf(const Sum& sum) const;
  // A lower bound of the sum, sharper than intervals: uses what relates atoms to each other and
  // `axioms`, sums known to be >= 0. Stops early once `enough` is reached.
  int64_t LowerBound(const Sum& sum, std::span<const Sum> axioms, int64_t enough);
  bool ProvenNonNegative(const Sum& sum, std::span<const Sum> axioms = {}) {
    return sum.valid && LowerBound(sum, axioms, 0) >= 0;
  }
  bool ProvenLess(ExprId a, ExprId b);       // a < b always
  bool ProvenLessEqual(ExprId a, ExprId b);  // a <= b always
  Tri ProveCompare(ExprKind kind, ExprId a, ExprId b, std::span<const Sum> axioms);

  struct BoundSearch;

  // --- facts (sym_facts.cc, sym_prove.cc)
  struct FactsBuilder;
  void BuildFacts(Facts& facts);
  ExprId Refined(ExprId e, const Facts* facts);  // in the refined terms of `facts`
  Tri ProveRefined(ExprId e, const Facts* facts);
  Tri ProveEqual(ExprId a, ExprId b, const Facts* facts);

  // --- rewriting (sym_rewrite.cc)
  // Rebuilds `id` bottom-up with some nodes replaced; `done` keeps what was rebuilt on the way.
  ExprId RebuildWith(ExprId id, const ExprMap& replaced, ExprMap& done);
  ExprId Rebuild(ExprId id, const ExprMap& replaced) {
    ExprMap done;
    return replaced.empty() ? id : RebuildWith(id, replaced, done);
  }
  std::vector<ExprId> PostOrder(ExprId id) const;  // each node once, arguments before what holds them
  // Without arguments of maxima and minima that can never win when `axioms` are >= 0.
  ExprId Prune(ExprId id, std::span<const Sum> axioms);
  // Remainders as quotients, numerators reduced as far as the value stays: closer to a normal form
  // than what is printed, made to compare.
  ExprId ProofForm(ExprId id);

  static constexpr int kFirstChunkLog = 10;
  static constexpr uint32_t kFirstChunk = 1u << kFirstChunkLog;
  static constexpr int kNumChunks = 18;  // 2^28 nodes
  std::atomic<Expr*> chunks[kNumChunks] = {};
  std::atomic<uint32_t> next_index{0};
  std::mutex chunk_mutex;

  struct Hash {
    using is_transparent = void;
    const Impl* impl;
    size_t operator()(uint32_t index) const { return impl->at(ExprId{index}).hash; }
    size_t operator()(const std::pair<size_t, const ExprKey*>& key) const { return key.first; }
  };
  struct Same {
    using is_transparent = void;
    const Impl* impl;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(uint32_t a, const std::pair<size_t, const ExprKey*>& key) const;
    bool operator()(const std::pair<size_t, const ExprKey*>& key, uint32_t a) const { return (*this)(a, key); }
  };
  struct Shard {
    std::mutex mutex;
    absl::flat_hash_set<uint32_t, Hash, Same> ids;
    llvm::BumpPtrAllocator arena;
  };
  static constexpr int kNumShards = 32;
  std::unique_ptr<Shard> shards[kNumShards];
  ExprId true_id, false_id, zero_id, one_id;
  // Ids of -128 … 255 once somebody asked; 0, the id of false, stands for not yet.
  static constexpr int64_t kFirstSmallInt = -128;
  std::array<std::atomic<uint32_t>, 384> small_ints{};

  std::mutex facts_mutex;
  absl::flat_hash_map<std::string, uint64_t> facts_ids;
};

}  // namespace tare
