// Matrix products on the CUDA device without a GPU: what the library is asked for, and what is wrong before it is asked.
#include "device/cuda/matrix_product.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/device/cuda/fake_driver.hpp"

namespace hone::device::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// cuBLASLt in memory: what was created and run is written down.
struct FakeLt {
  struct Layout {
    int type;
    std::uint64_t rows, columns;
    std::int64_t leading;
  };
  std::vector<Layout> layouts;
  std::vector<int> transposed;              // attributes that were set
  std::map<int, std::uint32_t> alignments;  // by attribute
  struct Run {
    const void *first, *second;
    void* result;
    float beta;
    std::uint64_t algorithm;
  };
  std::vector<Run> runs;
  int handles = 0, heuristics = 0, candidates = 1;
};

FakeLt& fake_lt() {
  static FakeLt lt;
  return lt;
}

int made(void** handle) {
  ++fake_lt().handles;
  *handle = new char;
  return 0;
}
int gone(void* handle) {
  --fake_lt().handles;
  delete static_cast<char*>(handle);
  return 0;
}

LtApi fake_lt_api() {
  LtApi api;
  api.create = made;
  api.destroy = gone;
  api.product_create = [](void** handle, int compute, int scale) {
    EXPECT_EQ(compute, kLtComputeFp32);
    EXPECT_EQ(scale, kLtFp32);
    return made(handle);
  };
  api.product_destroy = gone;
  api.product_set = [](void*, int attribute, const void* value, std::size_t) {
    EXPECT_EQ(*static_cast<const std::int32_t*>(value), kLtTransposed);
    fake_lt().transposed.push_back(attribute);
    return 0;
  };
  api.layout_create = [](void** handle, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
    fake_lt().layouts.push_back({type, rows, columns, leading});
    return made(handle);
  };
  api.layout_destroy = gone;
  api.preference_create = made;
  api.preference_destroy = gone;
  api.preference_set = [](void*, int attribute, const void* value, std::size_t bytes) {
    if (bytes == sizeof(std::uint32_t)) fake_lt().alignments[attribute] = *static_cast<const std::uint32_t*>(value);
    return 0;
  };
  api.heuristic = [](void*, void*, void*, void*, void*, void*, void*, int most, LtHeuristicResult* found, int* count) {
    ++fake_lt().heuristics;
    *count = std::min(most, fake_lt().candidates);
    for (int i = 0; i < *count; ++i) found[i].algorithm[0] = static_cast<std::uint64_t>(i + 1);
    return 0;
  };
  api.product = [](void*, void*, const void*, const void* first, void*, const void* second, void*, const void* beta,
                   const void*, void*, void* result, void*, const void* algorithm, void*, std::size_t, Stream) {
    fake_lt().runs.push_back(
        {first, second, result, *static_cast<const float*>(beta), *static_cast<const std::uint64_t*>(algorithm)});
    return 0;
  };
  return api;
}

class CudaProduct : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_gpu() = FakeGpu();
    fake_lt() = FakeLt();
    auto opened = GpuSession::open(fake_driver(), 0);
    ASSERT_TRUE(opened) << base::describe(opened.error());
    session_ = *opened;
    session_->set_products(fake_lt_api());
  }
  std::unique_ptr<CudaBuffer> buffer(std::size_t bytes) {
    auto made = CudaBuffer::make(session_, bytes);
    EXPECT_TRUE(made);
    return std::move(*made);
  }
  // 5 x 3 = 5 x 7 times 7 x 3, rows padded by one element.
  MatrixProduct product(CudaBuffer& a, CudaBuffer& b, CudaBuffer& c) {
    MatrixProduct p;
    p.m = 5, p.n = 3, p.k = 7;
    p.a = {&a, 0}, p.b = {&b, 0}, p.c = {&c, 0};
    p.a_stride = 8, p.b_stride = 4, p.c_stride = 4;
    return p;
  }

  std::shared_ptr<GpuSession> session_;
};

// c^T = b^T a^T in the library's column-major terms: its first operand is b, extents are exchanged, strides stay.
TEST_F(CudaProduct, IsGivenToTheLibraryAsItsTranspose) {
  auto a = buffer(1024), b = buffer(1024), c = buffer(1024);
  ProductLibrary& library = **session_->products();
  MatrixProduct p = product(*a, *b, *c);
  p.input = DType::bf16;
  p.beta = 1;
  const auto ready = library.prepare(p);
  ASSERT_TRUE(ready) << base::describe(ready.error());
  ASSERT_EQ(fake_lt().layouts.size(), 3u);
  const auto& [of_a, of_b, of_c] = std::tie(fake_lt().layouts[0], fake_lt().layouts[1], fake_lt().layouts[2]);
  EXPECT_EQ(of_a.type, kLtBf16);
  EXPECT_EQ(of_c.type, kLtFp32);
  EXPECT_THAT((std::vector{of_a.rows, of_a.columns, std::uint64_t(of_a.leading)}), ElementsAre(7, 5, 8));
  EXPECT_THAT((std::vector{of_b.rows, of_b.columns, std::uint64_t(of_b.leading)}), ElementsAre(3, 7, 4));
  EXPECT_THAT((std::vector{of_c.rows, of_c.columns, std::uint64_t(of_c.leading)}), ElementsAre(3, 5, 4));
  EXPECT_TRUE(fake_lt().transposed.empty());

  ASSERT_EQ(fake_lt().runs.size(), 1u) << "once, to load the code";
  EXPECT_NE(fake_lt().runs[0].result, reinterpret_cast<void*>(c->pointer())) << "into memory of its own";
  ASSERT_TRUE(library.enqueue(*ready));
  EXPECT_EQ(fake_lt().runs[1].first, reinterpret_cast<void*>(b->pointer()));
  EXPECT_EQ(fake_lt().runs[1].second, reinterpret_cast<void*>(a->pointer()));
  EXPECT_EQ(fake_lt().runs[1].result, reinterpret_cast<void*>(c->pointer()));
  EXPECT_EQ(fake_lt().runs[1].beta, 1);
}

TEST_F(CudaProduct, TransposedOperandsSayHowTheyLie) {
  auto a = buffer(1024), b = buffer(1024), c = buffer(1024);
  MatrixProduct p = product(*a, *b, *c);
  p.b_transposed = true;
  p.b_stride = 7;
  ASSERT_TRUE((*session_->products())->prepare(p));
  EXPECT_THAT(fake_lt().transposed, ElementsAre(kLtTransposeA));
  EXPECT_EQ(fake_lt().layouts[1].rows, 7u);
  p.a_transposed = true;
  p.a_stride = 5;
  ASSERT_TRUE((*session_->products())->prepare(p));
  EXPECT_THAT(fake_lt().transposed, ElementsAre(kLtTransposeA, kLtTransposeA, kLtTransposeB));
}

TEST_F(CudaProduct, AShapeIsPlannedOnceAndItsAlignmentIsTold) {
  auto a = buffer(1024), b = buffer(1024), c = buffer(1024);
  MatrixProduct p = product(*a, *b, *c);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE((*session_->products())->prepare(p));
  EXPECT_EQ(fake_lt().heuristics, 1);
  p.a.offset_bytes = 4 + (16 - a->pointer() % 16) % 16;
  ASSERT_TRUE((*session_->products())->prepare(p));
  EXPECT_EQ(fake_lt().heuristics, 2);
  EXPECT_EQ(fake_lt().alignments[kLtAlignmentB], 4u) << "the library's second operand is a";
}

TEST_F(CudaProduct, OfALargeOneTheCandidatesAreTimed) {
  fake_gpu().total_bytes = std::size_t{1} << 32;
  fake_lt().candidates = 4;
  auto a = buffer(std::size_t{1} << 26), b = buffer(std::size_t{1} << 26), c = buffer(std::size_t{1} << 26);
  MatrixProduct p;
  p.m = p.n = p.k = p.a_stride = p.b_stride = p.c_stride = 4096;
  p.a = {a.get(), 0}, p.b = {b.get(), 0}, p.c = {c.get(), 0};
  const auto ready = (*session_->products())->prepare(p);
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->plan->algorithm.algorithm[0], 1u) << "the first of equally quick ones";
  EXPECT_EQ(fake_lt().runs.back().algorithm, 4u);
}

TEST_F(CudaProduct, ASumOfNothingIsZeroOrWhatWasThere) {
  auto a = buffer(1024), b = buffer(1024), c = buffer(1024);
  std::vector<float> values(20, 3.0f);
  fake_driver().copy_to_device(c->pointer(), values.data(), 80);
  MatrixProduct p = product(*a, *b, *c);
  p.k = 0;
  p.beta = 1;
  auto kept = (*session_->products())->prepare(p);
  ASSERT_TRUE(kept && (*session_->products())->enqueue(*kept));
  fake_driver().copy_to_host(values.data(), c->pointer(), 80);
  EXPECT_EQ(values[2], 3.0f);
  p.beta = 0;
  auto zero = (*session_->products())->prepare(p);
  ASSERT_TRUE(zero && (*session_->products())->enqueue(*zero));
  fake_driver().copy_to_host(values.data(), c->pointer(), 80);
  EXPECT_THAT((std::vector<float>(values.begin(), values.begin() + 8)), ElementsAre(0, 0, 0, 3, 0, 0, 0, 3))
      << "between the rows nothing is written";
  EXPECT_TRUE(fake_lt().runs.empty());
}

TEST_F(CudaProduct, OperandsThatLeaveTheirBuffersAreRefused) {
  auto a = buffer(1024), b = buffer(1024), c = buffer(64);
  const auto refused = check_product(product(*a, *b, *c));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().found, HasSubstr("76 bytes at offset 0 of a buffer of 64"));
  MatrixProduct narrow = product(*a, *b, *a);
  narrow.a_stride = 6;
  EXPECT_FALSE(check_product(narrow));
}

TEST_F(CudaProduct, EverythingIsGivenBack) {
  {
    auto a = buffer(1024), b = buffer(1024), c = buffer(1024);
    ASSERT_TRUE((*session_->products())->prepare(product(*a, *b, *c)));
    EXPECT_GT(fake_lt().handles, 0);
  }
  session_.reset();
  EXPECT_EQ(fake_lt().handles, 0);
  EXPECT_TRUE(fake_gpu().allocations.empty());
}

}  // namespace
}  // namespace hone::device::cuda
