#pragma once
#include "kernels.cuh"

namespace chapter12 {

// begin copy-rows
/// One read and one write of everything, and nothing else: what no softmax can be faster than.
///
/// \pre gridDim.x * blockDim.x * Loads * kPer<Word> >= n, a multiple of kPer<Word>
template <class Word, unsigned Loads>
__global__ void copy_rows(const float* in, float* out, std::size_t n) {
  const Word* from = reinterpret_cast<const Word*>(in);
  Word* to = reinterpret_cast<Word*>(out);
  const std::size_t words = n / kPer<Word>;
  const std::size_t first = std::size_t{blockIdx.x} * (Loads * blockDim.x) + threadIdx.x;
  Word v[Loads];
#pragma unroll
  for (unsigned k = 0; k < Loads; ++k) {
    const std::size_t i = first + k * blockDim.x;
    if (i < words) v[k] = from[i];
  }
#pragma unroll
  for (unsigned k = 0; k < Loads; ++k) {
    const std::size_t i = first + k * blockDim.x;
    if (i < words) to[i] = v[k];
  }
}
// end copy-rows

// begin exp-sum
/// exp(x - most), and exp(x) where nothing has come yet: -inf - -inf would be NaN.
__device__ inline float scaled(float x, float most) {
  return expf(x - (most == minus_infinity() ? 0 : most));
}

/// The sum of exp(x - most), and the largest element, which keeps it from overflowing. fmaxf passes
/// NaN over; the sum does not.
struct ExpSum {
  float most, sum;
  static __device__ ExpSum none() { return {minus_infinity(), 0}; }
  __device__ void merge(const ExpSum& other) {
    const float larger = fmaxf(most, other.most);
    sum = sum * scaled(most, larger) + other.sum * scaled(other.most, larger);
    most = larger;
  }
};
// end exp-sum

// begin row-part
__device__ inline void unpack(float word, float* x) {
  *x = word;
}
__device__ inline void unpack(const float4& word, float* x) {
  x[0] = word.x;
  x[1] = word.y;
  x[2] = word.z;
  x[3] = word.w;
}
__device__ inline void pack(const float* x, float& word) {
  word = *x;
}
__device__ inline void pack(const float* x, float4& word) {
  word = {x[0], x[1], x[2], x[3]};
}

/// Words of a row that a thread keeps in its registers: first, first + step, … before `last`.
template <class Word, unsigned Words>
struct Part {
  static constexpr unsigned kFloats = Words * kPer<Word>;
  float x[kFloats];

  /// All loads in flight at once. Where the row has no such word, x gets `missing`.
  __device__ void load(const Word* row, unsigned first, unsigned last, unsigned step,
                       float missing) {
    Word v[Words];
#pragma unroll
    for (unsigned k = 0; k < Words; ++k) {
      const unsigned w = first + k * step;
      if (w < last) v[k] = row[w];
    }
#pragma unroll
    for (unsigned k = 0; k < Words; ++k) {
      if (first + k * step < last) {
        unpack(v[k], x + k * kPer<Word>);
      } else {
#pragma unroll
        for (unsigned j = 0; j < kPer<Word>; ++j) x[k * kPer<Word> + j] = missing;
      }
    }
  }
  __device__ void store(Word* row, unsigned first, unsigned last, unsigned step) const {
#pragma unroll
    for (unsigned k = 0; k < Words; ++k) {
      const unsigned w = first + k * step;
      Word v;
      pack(x + k * kPer<Word>, v);
      if (w < last) row[w] = v;
    }
  }
  /// Each x becomes exp(x - the largest x); returns their sum and the largest.
  __device__ ExpSum exponentials() {
    ExpSum mine = ExpSum::none();
#pragma unroll
    for (const float each : x) mine.most = fmaxf(mine.most, each);
#pragma unroll
    for (float& each : x) {
      each = scaled(each, mine.most);
      mine.sum += each;
    }
    return mine;
  }
  /// Each x becomes an element of the row's softmax …
  __device__ void softmax(const ExpSum& all) {
    const float factor = 1 / all.sum;
#pragma unroll
    for (float& each : x) each = scaled(each, all.most) * factor;
  }
  /// … and so does each exponential that this part has made of it.
  __device__ void divide(const ExpSum& mine, const ExpSum& all) {
    const float factor = scaled(mine.most, all.most) / all.sum;
#pragma unroll
    for (float& each : x) each *= factor;
  }
};

template <class Word>
__device__ Word* words_of(float* out, std::size_t row, unsigned columns) {
  return reinterpret_cast<Word*>(out + row * columns);
}
// end row-part

// begin softmax-by-lanes
/// exp(x) / the sum of exp(x) along each row. Lanes lanes per row keep it in registers, so that
/// it is read once and written once.
///
/// -inf becomes 0. A row with a NaN or a +inf, and one of nothing but -inf, is NaN throughout, as
/// in PyTorch.
/// \param out  rows * columns floats, here and below
/// \pre columns <= Lanes * Words * kPer<Word>; gridDim.x * (blockDim.x / Lanes) >= rows;
///      blockDim.x is a multiple of 32
template <class Word, unsigned Lanes, unsigned Words>
__global__ void softmax_by_lanes(const float* in, float* out, std::size_t rows, unsigned columns) {
  const std::size_t row = std::size_t{blockIdx.x} * (blockDim.x / Lanes) + threadIdx.x / Lanes;
  const unsigned first = threadIdx.x % Lanes;
  const unsigned words = row < rows ? columns / kPer<Word> : 0;  // stay for the shuffles

  Part<Word, Words> part;
  part.load(words_of<Word>(in, row, columns), first, words, Lanes, minus_infinity());
  const ExpSum mine = part.exponentials();
  part.divide(mine, share_lanes<Lanes>(mine));
  part.store(words_of<Word>(out, row, columns), first, words, Lanes);
}
// end softmax-by-lanes

// begin softmax-by-block
/// The same with a block per row.
///
/// \tparam Most  threads per block at most: 1024 leave each 64 registers, which is just enough
/// \pre columns <= blockDim.x * Words * kPer<Word>; gridDim.x == rows; blockDim.x is a multiple
///      of 32
template <class Word, unsigned Words, unsigned Most>
__global__ void __launch_bounds__(Most)
    softmax_by_block(const float* in, float* out, unsigned columns) {
  __shared__ ExpSum slot[32];
  const unsigned t = threadIdx.x;
  const unsigned words = columns / kPer<Word>;

  Part<Word, Words> part;
  part.load(words_of<Word>(in, blockIdx.x, columns), t, words, blockDim.x, minus_infinity());
  const ExpSum mine = part.exponentials();
  part.divide(mine, merge_block(mine, slot));
  part.store(words_of<Word>(out, blockIdx.x, columns), t, words, blockDim.x);
}
// end softmax-by-block

// begin softmax-online
/// A row of any length, by one block that reads it twice: once for the sum, which is scaled down
/// whenever a larger element comes, and once more to divide.
///
/// \pre gridDim.x == rows; blockDim.x is a multiple of 32
template <class Word, unsigned Words>
__global__ void softmax_online(const float* in, float* out, unsigned columns) {
  __shared__ ExpSum slot[32];
  const Word* row = words_of<Word>(in, blockIdx.x, columns);
  const unsigned words = columns / kPer<Word>;
  const unsigned step = blockDim.x;
  Part<Word, Words> part;

  ExpSum mine = ExpSum::none();
  for (unsigned w = threadIdx.x; w < words; w += Words * step) {
    part.load(row, w, words, step, minus_infinity());
    mine.merge(part.exponentials());
  }
  const ExpSum all = merge_block(mine, slot);

  // From the end: what was read last is what the caches still hold.
  const unsigned trips = (words + Words * step - 1) / (Words * step);
  for (unsigned trip = trips; trip-- > 0;) {
    const unsigned w = threadIdx.x + trip * Words * step;
    part.load(row, w, words, step, minus_infinity());
    part.softmax(all);
    part.store(words_of<Word>(out, blockIdx.x, columns), w, words, step);
  }
}
// end softmax-online

// begin softmax-by-blocks
/// What a piece's word holds before its block has written it: the bits of two NaNs, and no piece's
/// largest element is a NaN.
constexpr unsigned long long kNotYet = ~0ull;

/// A row of any length in the registers of several blocks, which tell each other their pieces'
/// sums: one word each, which is there or not, so that nothing needs a fence.
///
/// \param told  rows * pieces words, kNotYet before the launch
/// \pre a cooperative launch; blockDim.x <= 512; gridDim.x is a multiple of pieces; blockDim.x is a
/// multiple of 32;
///      columns <= pieces * blockDim.x * Words * kPer<Word>
template <class Word, unsigned Words>
__global__ void __launch_bounds__(512)
    softmax_by_blocks(const float* in, float* out, volatile unsigned long long* told,
                      std::size_t rows, unsigned columns, unsigned pieces) {
  __shared__ ExpSum slot[32], row_slot[32];
  const unsigned piece = blockIdx.x % pieces;
  const unsigned words = columns / kPer<Word>;
  const unsigned share = (words + pieces - 1) / pieces;
  const unsigned begin = min(piece * share, words);
  const unsigned first = begin + threadIdx.x;
  const unsigned last = min(begin + share, words);

  for (std::size_t row = blockIdx.x / pieces; row < rows; row += gridDim.x / pieces) {
    Part<Word, Words> part;
    part.load(words_of<Word>(in, row, columns), first, last, blockDim.x, minus_infinity());
    const ExpSum mine = part.exponentials();
    const ExpSum block = merge_block(mine, slot);
    if (threadIdx.x == 0) {
      unsigned long long word = 0;
      memcpy(&word, &block, sizeof word);
      told[row * pieces + piece] = word;
    }
    ExpSum all = ExpSum::none();
    for (unsigned k = threadIdx.x; k < pieces; k += blockDim.x) {
      unsigned long long word = kNotYet;
      while (word == kNotYet) word = told[row * pieces + k];
      ExpSum other;
      memcpy(&other, &word, sizeof word);
      all.merge(other);
    }
    part.divide(mine, merge_block(all, row_slot));
    part.store(words_of<Word>(out, row, columns), first, last, blockDim.x);
  }
}
// end softmax-by-blocks

// begin layer-norm
/// Each x of a part becomes (x - mean) * scale * weight + bias, where `scale` is one over the
/// standard deviation. Weight and bias are read as the row was, a word of each at a time.
template <class Word, unsigned Words>
__device__ void normalise(Part<Word, Words>& part, const Word* weight, const Word* bias,
                          unsigned first, unsigned last, unsigned step, float mean, float scale) {
#pragma unroll
  for (unsigned k = 0; k < Words; ++k) {
    const unsigned w = first + k * step;
    if (w >= last) continue;
    float weights[kPer<Word>], biases[kPer<Word>];
    unpack(weight[w], weights);
    unpack(bias[w], biases);
#pragma unroll
    for (unsigned j = 0; j < kPer<Word>; ++j) {
      float& x = part.x[k * kPer<Word> + j];
      x = (x - mean) * scale * weights[j] + biases[j];
    }
  }
}

/// (x - mean) / sqrt(variance + epsilon) * weight + bias along each row, which stays in the
/// registers of a block: the mean first, then the variance about it, and no element is read twice.
///
/// A row with an infinity or a NaN is NaN throughout.
/// \param weight  columns floats, as aligned as the rows; so is bias
/// \pre as softmax_by_block
template <class Word, unsigned Words, unsigned Most>
__global__ void __launch_bounds__(Most)
    layer_norm(const float* in, float* out, const float* weight, const float* bias,
               unsigned columns, float epsilon) {
  __shared__ Sum slot[32], squares_slot[32];
  const unsigned t = threadIdx.x;
  const unsigned words = columns / kPer<Word>;
  const float count = static_cast<float>(columns);
  Part<Word, Words> part;
  part.load(words_of<Word>(in, blockIdx.x, columns), t, words, blockDim.x, 0);

  Sum sum = Sum::none();
#pragma unroll
  for (const float each : part.x) sum.add(each, 0);
  const float mean = merge_block(sum, slot).sum / count;

  Sum squares = Sum::none();
#pragma unroll
  for (unsigned j = 0; j < part.kFloats; ++j) {
    const float away = part.x[j] - mean;
    if (t + j / kPer<Word> * blockDim.x < words) squares.add(away * away, 0);
  }
  const float variance = merge_block(squares, squares_slot).sum / count;
  normalise(part, words_of<Word>(weight, 0, columns), words_of<Word>(bias, 0, columns), t, words,
            blockDim.x, mean, rsqrtf(variance + epsilon));
  part.store(words_of<Word>(out, blockIdx.x, columns), t, words, blockDim.x);
}
// end layer-norm

// begin layer-norm-by-lanes
/// The same with Lanes lanes per row.
///
/// \pre as softmax_by_lanes
template <class Word, unsigned Lanes, unsigned Words>
__global__ void layer_norm_by_lanes(const float* in, float* out, const float* weight,
                                    const float* bias, std::size_t rows, unsigned columns,
                                    float epsilon) {
  const std::size_t row = std::size_t{blockIdx.x} * (blockDim.x / Lanes) + threadIdx.x / Lanes;
  const unsigned first = threadIdx.x % Lanes;
  const unsigned words = row < rows ? columns / kPer<Word> : 0;  // stay for the shuffles
  const float count = static_cast<float>(columns);
  Part<Word, Words> part;
  part.load(words_of<Word>(in, row, columns), first, words, Lanes, 0);

  Sum sum = Sum::none();
#pragma unroll
  for (const float each : part.x) sum.add(each, 0);
  const float mean = share_lanes<Lanes>(sum).sum / count;

  Sum squares = Sum::none();
#pragma unroll
  for (unsigned j = 0; j < part.kFloats; ++j) {
    const float away = part.x[j] - mean;
    if (first + j / kPer<Word> * Lanes < words) squares.add(away * away, 0);
  }
  const float variance = share_lanes<Lanes>(squares).sum / count;
  normalise(part, words_of<Word>(weight, 0, columns), words_of<Word>(bias, 0, columns), first,
            words, Lanes, mean, rsqrtf(variance + epsilon));
  part.store(words_of<Word>(out, row, columns), first, words, Lanes);
}
// end layer-norm-by-lanes

// begin layer-norm-online
/// A row of any length, by one block that reads it twice. Mean and variance come from one reading,
/// by Welford.
///
/// \pre as softmax_online
template <class Word, unsigned Words>
__global__ void layer_norm_online(const float* in, float* out, const float* weight,
                                  const float* bias, unsigned columns, float epsilon) {
  __shared__ Moments slot[32];
  const Word* row = words_of<Word>(in, blockIdx.x, columns);
  const unsigned words = columns / kPer<Word>;
  const unsigned step = blockDim.x;
  const float2 moments =
      merge_block(total_of<Moments, Words>(row, threadIdx.x, words, step), slot).value();
  const float scale = rsqrtf(moments.y + epsilon);

  Part<Word, Words> part;
  for (unsigned w = threadIdx.x; w < words; w += Words * step) {
    part.load(row, w, words, step, 0);
    normalise(part, words_of<Word>(weight, 0, columns), words_of<Word>(bias, 0, columns), w, words,
              step, moments.x, scale);
    part.store(words_of<Word>(out, blockIdx.x, columns), w, words, step);
  }
}
// end layer-norm-online

}  // namespace chapter12
