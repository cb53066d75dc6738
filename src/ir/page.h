// 64 nodes in columns: the unit of ownership, sharing, copying and diffing of graphs.
//
// A page with more than one reference is never written. Slots of erased nodes hold kDeadOp, so a
// scan for an op needs no other column.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>

#include "ir/ids.h"

namespace tare {

inline constexpr uint32_t kPageNodes = 64;
inline constexpr Op kDeadOp{UINT16_MAX};

struct alignas(64) Page {
  Op op[kPageNodes];
  uint16_t num_operands[kPageNodes] = {};
  NodeId operands[kPageNodes][3];  // more than three: [0].index is where the list starts in `pool`
  AttrsId attrs[kPageNodes];
  MetaId meta[kPageNodes];
  QuantId quant[kPageNodes];
  LocId loc[kPageNodes];
  NodeId prev[kPageNodes];
  NodeId next[kPageNodes];
  uint32_t pos[kPageNodes] = {};  // label that grows along the order
  uint64_t live = 0;              // bit per slot
  std::atomic<uint32_t> references{1};
  uint32_t pool_size = 0;
  uint32_t pool_capacity = 0;
  NodeId* pool = nullptr;  // owned

  Page();
  Page(const Page& other);  // compacts the pool
  Page& operator=(const Page&) = delete;
  ~Page();

  std::span<const NodeId> Operands(uint32_t slot) const {
    const uint32_t count = num_operands[slot];
    return {count <= 3 ? operands[slot] : pool + operands[slot][0].index, count};
  }
  std::span<NodeId> MutableOperands(uint32_t slot) {
    const uint32_t count = num_operands[slot];
    return {count <= 3 ? operands[slot] : pool + operands[slot][0].index, count};
  }
  // `values` lie outside of this page.
  void SetOperands(uint32_t slot, std::span<const NodeId> values);

 private:
  void Repack(uint32_t room);
};
static_assert(sizeof(Page) <= 48 * kPageNodes);

// A counted reference to a page; null for ids this version has no nodes of.
class PageRef {
 public:
  PageRef() = default;
  explicit PageRef(Page* fresh) : page_(fresh) {}  // takes over the first reference
  PageRef(const PageRef& other) : page_(other.page_) {
    if (page_ != nullptr) page_->references.fetch_add(1, std::memory_order_relaxed);
  }
  PageRef(PageRef&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}
  PageRef& operator=(PageRef other) noexcept {
    std::swap(page_, other.page_);
    return *this;
  }
  ~PageRef() {
    if (page_ != nullptr && page_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete page_;
  }
  const Page* get() const { return page_; }
  const Page* operator->() const { return page_; }
  explicit operator bool() const { return page_ != nullptr; }
  // The page, alone in using it: copied first when it is shared, made when it is null.
  Page& Own() {
    if (page_ == nullptr) {
      page_ = new Page;
    } else if (page_->references.load(std::memory_order_acquire) != 1) {
      *this = PageRef(new Page(*page_));
    }
    return *page_;
  }

 private:
  Page* page_ = nullptr;
};

}  // namespace tare
