// Chains of RESHAPE and TRANSPOSE as one permutation of factors of extents.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tare {

// What a chain does to elements: the source seen with dims `extents`, moved by `perms`.
struct Movement {
  std::vector<int64_t> extents, perms;
};

// Follows a chain from its source on. Extents of 1 are no factors; a reshape splits factors where its dims begin.
class Factors {
 public:
  explicit Factors(std::span<const int64_t> shape) : shape_(shape.begin(), shape.end()) {
    for (const int64_t extent : shape) {
      if (extent == 1) continue;
      order_.push_back(static_cast<int64_t>(extents_.size()));
      extents_.push_back(extent);
    }
  }

  // False where dims of the new shape do not begin at factors: the chain cannot be followed.
  bool Reshape(std::span<const int64_t> shape) {
    size_t at = 0;
    for (int64_t left : shape) {
      while (left != 1) {
        if (left <= 0 || at == order_.size()) return false;
        const int64_t extent = extents_[static_cast<size_t>(order_[at])];
        if (extent > left) {
          if (extent % left != 0) return false;
          Split(at, left);
        }
        const int64_t first = extents_[static_cast<size_t>(order_[at++])];
        if (left % first != 0) return false;
        left /= first;
      }
    }
    shape_.assign(shape.begin(), shape.end());
    return at == order_.size();
  }

  void Transpose(std::span<const int64_t> perms) {
    std::vector<std::vector<int64_t>> of_dim(shape_.size());
    size_t at = 0;
    for (size_t dim = 0; dim < shape_.size(); ++dim)
      for (int64_t left = shape_[dim]; left > 1; ++at) {
        of_dim[dim].push_back(order_[at]);
        left /= extents_[static_cast<size_t>(order_[at])];
      }
    std::vector<int64_t> order, shape;
    for (const int64_t dim : perms) {
      const std::vector<int64_t>& factors = of_dim[static_cast<size_t>(dim)];
      order.insert(order.end(), factors.begin(), factors.end());
      shape.push_back(shape_[static_cast<size_t>(dim)]);
    }
    order_ = std::move(order);
    shape_ = std::move(shape);
  }

  // With the fewest dims: factors that stay neighbours are one.
  Movement Narrowest() const {
    struct Block {
      int64_t first = 0, last = 0, extent = 1;
    };
    std::vector<Block> blocks;
    for (const int64_t factor : order_) {
      if (blocks.empty() || blocks.back().last + 1 != factor) blocks.push_back({factor, factor, 1});
      blocks.back().last = factor;
      blocks.back().extent *= extents_[static_cast<size_t>(factor)];
    }
    std::vector<size_t> by_source(blocks.size());
    for (size_t i = 0; i < by_source.size(); ++i) by_source[i] = i;
    std::sort(by_source.begin(), by_source.end(),
              [&](size_t a, size_t b) { return blocks[a].first < blocks[b].first; });
    Movement movement;
    movement.perms.resize(blocks.size());
    for (size_t i = 0; i < by_source.size(); ++i) {
      movement.perms[by_source[i]] = static_cast<int64_t>(i);
      movement.extents.push_back(blocks[by_source[i]].extent);
    }
    return movement;
  }

 private:
  // The factor at `at` becomes `first` and the rest. Bounded by the bits of an extent.
  void Split(size_t at, int64_t first) {
    const int64_t factor = order_[at];
    const auto index = static_cast<size_t>(factor);
    for (int64_t& other : order_) other += other > factor ? 1 : 0;
    order_.insert(order_.begin() + static_cast<ptrdiff_t>(at) + 1, factor + 1);
    const int64_t rest = extents_[index] / first;
    extents_[index] = first;
    extents_.insert(extents_.begin() + static_cast<ptrdiff_t>(index) + 1, rest);
  }

  std::vector<int64_t> extents_;  // in the order of the source
  std::vector<int64_t> order_;    // factors as they stand now
  std::vector<int64_t> shape_;    // as it is now
};

}  // namespace tare
