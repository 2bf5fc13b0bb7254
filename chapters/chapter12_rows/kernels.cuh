#pragma once
#include <cstddef>

namespace chapter12 {

__device__ inline float minus_infinity() {
  return __int_as_float(static_cast<int>(0xff800000));
}

// begin row-sum
/// What becomes of a row: the sum of its elements. The other totals have the same members.
struct Sum {
  using Result = float;
  float sum;
  static __device__ Sum none() { return {0}; }
  __device__ void add(float x, unsigned /*column*/) { sum += x; }
  __device__ void merge(const Sum& other) { sum += other.sum; }
  __device__ float value() const { return sum; }
};
// end row-sum

// begin row-maximum
/// The largest element: NaN where one is NaN, and -inf for a row without elements.
struct Maximum {
  using Result = float;
  float most;
  static __device__ Maximum none() { return {minus_infinity()}; }
  // A comparison with NaN is false: a NaN that is there stays, and one that comes needs a question.
  __device__ void add(float x, unsigned /*column*/) { most = x > most || isnan(x) ? x : most; }
  __device__ void merge(const Maximum& other) { add(other.most, 0); }
  __device__ float value() const { return most; }
};
// end row-maximum

// begin row-argmax
/// The column of the largest element; of equal ones the first. NaN counts as larger than any
/// number, and -0 as equal to 0. kNoColumn for a row without elements. Aligned, so that both halves
/// of a block's result go out in one store.
constexpr unsigned kNoColumn = ~0u;
struct alignas(8) Argmax {
  using Result = unsigned;
  float most;
  unsigned column;
  static __device__ Argmax none() { return {minus_infinity(), kNoColumn}; }
  /// Columns come in their order, so that the first of equal ones is there already. A comparison
  /// with NaN is false: a NaN that is there stays, and one that comes is not <= what is there.
  __device__ void add(float x, unsigned at) {
    if (column == kNoColumn || (most == most && !(x <= most))) *this = {x, at};
  }
  /// Of two parts either may come first.
  __device__ void merge(const Argmax& other) {
    const bool equal = other.most == most || (isnan(other.most) && isnan(most));
    const bool larger = other.most > most || (isnan(other.most) && !isnan(most));
    if (larger || (equal && other.column < column)) *this = other;
  }
  __device__ unsigned value() const { return column; }
};
// end row-argmax

// begin row-moments
/// Mean and variance, by Welford: no square of an element is ever added up, so that a large mean
/// costs the variance no bits. The variance divides by the number of elements. Of a row with an
/// infinity or a NaN, and of one without elements, both are NaN.
struct Moments {
  using Result = float2;
  float mean, squares;  // of the distances from the mean
  unsigned count;
  static __device__ Moments none() { return {0, 0, 0}; }
  __device__ void add(float x, unsigned /*column*/) {
    ++count;
    const float before = x - mean;
    mean += before * __frcp_rn(static_cast<float>(count));
    squares += before * (x - mean);
  }
  /// Chan, Golub and LeVeque: the two means differ, and the squares about one are not those about
  /// the other.
  __device__ void merge(const Moments& other) {
    if (other.count == 0) return;
    const float weight = static_cast<float>(other.count) / static_cast<float>(count + other.count);
    const float apart = other.mean - mean;
    mean += apart * weight;
    squares += other.squares + apart * apart * weight * static_cast<float>(count);
    count += other.count;
  }
  __device__ float2 value() const {
    const float variance = squares / static_cast<float>(count);
    return {isnan(variance) ? variance : mean, variance};  // an infinity makes it NaN
  }
};
// end row-moments

// begin words-of-rows
/// Elements in a word. Rows are read in words of 16 bytes where each of them begins at a multiple
/// of 16 bytes, else in floats. Callers choose.
template <class Word>
constexpr unsigned kPer = sizeof(Word) / sizeof(float);

/// The words of a row.
template <class Word>
__device__ const Word* words_of(const float* in, std::size_t row, unsigned columns) {
  return reinterpret_cast<const Word*>(in + row * columns);
}
template <class Total>
__device__ void add_word(Total& total, float x, unsigned w) {
  total.add(x, w);
}
template <class Total>
__device__ void add_word(Total& total, const float4& x, unsigned w) {
  total.add(x.x, 4 * w);
  total.add(x.y, 4 * w + 1);
  total.add(x.z, 4 * w + 2);
  total.add(x.w, 4 * w + 3);
}

/// The total of words first, first + step, … before `last`, with `Loads` loads in flight.
template <class Total, unsigned Loads, class Word>
__device__ Total total_of(const Word* row, unsigned first, unsigned last, unsigned step) {
  Total mine = Total::none();
  unsigned w = first;
  for (; w + (Loads - 1) * step < last; w += Loads * step) {
    Word v[Loads];
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k) v[k] = row[w + k * step];
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k) add_word(mine, v[k], w + k * step);
  }
  for (; w < last; w += step) add_word(mine, row[w], w);
  return mine;
}
// end words-of-rows

// begin merge-lanes
/// What the lane has whose number differs in the bits of `bits`, word by word.
template <class Total>
__device__ Total from_lane_xor(const Total& mine, unsigned bits) {
  unsigned word[sizeof(Total) / sizeof(unsigned)];
  memcpy(word, &mine, sizeof mine);
#pragma unroll
  for (unsigned& each : word) each = __shfl_xor_sync(0xffffffff, each, bits);
  Total moved;
  memcpy(&moved, word, sizeof moved);
  return moved;
}

/// Merges what each `Lanes` neighbouring lanes have. All lanes of the warp call, and the first of
/// each group has the total.
template <unsigned Lanes, class Total>
__device__ Total merge_lanes(Total mine) {
#pragma unroll
  for (unsigned bits = Lanes / 2; bits > 0; bits /= 2) mine.merge(from_lane_xor(mine, bits));
  return mine;
}

/// The same, and all lanes of a group get the first one's bits: rounding may tell theirs apart.
template <unsigned Lanes, class Total>
__device__ Total share_lanes(Total mine) {
  mine = merge_lanes<Lanes>(mine);
  unsigned word[sizeof(Total) / sizeof(unsigned)];
  memcpy(word, &mine, sizeof mine);
#pragma unroll
  for (unsigned& each : word) each = __shfl_sync(0xffffffff, each, 0, Lanes);
  memcpy(&mine, word, sizeof mine);
  return mine;
}

/// Merges what all threads of a block have, and gives the same bits to all of them.
///
/// \param slot  32 Totals in shared memory, which no warp may still be reading
/// \pre blockDim.x is a multiple of 32
template <class Total>
__device__ Total merge_block(Total mine, Total* slot) {
  const unsigned lane = threadIdx.x % 32;
  mine = merge_lanes<32>(mine);
  if (lane == 0) slot[threadIdx.x / 32] = mine;
  __syncthreads();
  return share_lanes<32>(lane < blockDim.x / 32 ? slot[lane] : Total::none());
}
// end merge-lanes

// begin rows-by-thread
/// A thread per row. Neighbouring threads read a row's length apart.
///
/// \param in   rows * columns floats, row by row
/// \param out  one result per row
/// \pre gridDim.x * blockDim.x >= rows, and columns <= 2^31, here and below
template <class Total, class Word>
__global__ void by_thread(const float* in, typename Total::Result* out, std::size_t rows,
                          unsigned columns) {
  const std::size_t row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const unsigned words = columns / kPer<Word>;
  out[row] = total_of<Total, 1>(words_of<Word>(in, row, columns), 0, words, 1).value();
}
// end rows-by-thread

// begin rows-by-lanes
/// Lanes lanes per row, up to a warp, and Rows rows at once for each: a short row has too few
/// elements to keep memory busy.
///
/// \pre gridDim.x * (blockDim.x / Lanes) * Rows >= rows; blockDim.x is a multiple of 32
template <class Total, class Word, unsigned Lanes, unsigned Rows>
__global__ void by_lanes(const float* in, typename Total::Result* out, std::size_t rows,
                         unsigned columns) {
  const unsigned teams = blockDim.x / Lanes;
  const unsigned words = columns / kPer<Word>;
  // Teams side by side take rows side by side: what a warp reads at once is one piece.
  const std::size_t first = std::size_t{blockIdx.x} * (teams * Rows) + threadIdx.x / Lanes;

  Total mine[Rows];
#pragma unroll
  for (Total& each : mine) each = Total::none();
  for (unsigned w = threadIdx.x % Lanes; w < words; w += Lanes) {
    Word v[Rows];
#pragma unroll
    for (unsigned k = 0; k < Rows; ++k) {
      const std::size_t row = first + k * teams;
      if (row < rows) v[k] = words_of<Word>(in, row, columns)[w];
    }
#pragma unroll
    for (unsigned k = 0; k < Rows; ++k) {
      if (first + k * teams < rows) add_word(mine[k], v[k], w);
    }
  }
#pragma unroll
  for (unsigned k = 0; k < Rows; ++k) {
    const std::size_t row = first + k * teams;
    const Total total = merge_lanes<Lanes>(mine[k]);
    if (threadIdx.x % Lanes == 0 && row < rows) out[row] = total.value();
  }
}
// end rows-by-lanes

// begin rows-by-block
/// A block per row.
///
/// \pre gridDim.x == rows; blockDim.x is a multiple of 32
template <class Total, class Word, unsigned Loads>
__global__ void by_block(const float* in, typename Total::Result* out, unsigned columns) {
  __shared__ Total slot[32];
  const Word* row = words_of<Word>(in, blockIdx.x, columns);
  const Total mine = total_of<Total, Loads>(row, threadIdx.x, columns / kPer<Word>, blockDim.x);
  const Total total = merge_block(mine, slot);
  if (threadIdx.x == 0) out[blockIdx.x] = total.value();
}
// end rows-by-block

// begin rows-by-blocks
/// Several blocks per row, each a piece of it. The last one of a row to finish merges what they
/// left, in the order of the pieces: the result doesn't depend on who was last.
///
/// \param partial  gridDim.x Totals
/// \param ticket   a word per row, 0 before the launch and after it
/// \pre gridDim.x == rows * pieces; blockDim.x is a multiple of 32
template <class Total, class Word, unsigned Loads>
__global__ void by_blocks(const float* in, typename Total::Result* out, Total* partial,
                          unsigned* ticket, unsigned columns, unsigned pieces) {
  __shared__ Total slot[32], last_slot[32];
  __shared__ bool last;
  const unsigned row = blockIdx.x / pieces;
  const unsigned piece = blockIdx.x % pieces;
  const unsigned words = columns / kPer<Word>;
  const unsigned share = (words + pieces - 1) / pieces;
  const unsigned begin = min(piece * share, words);

  const Total mine = total_of<Total, Loads>(words_of<Word>(in, row, columns), begin + threadIdx.x,
                                            min(begin + share, words), blockDim.x);
  const Total total = merge_block(mine, slot);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = total;
    __threadfence();  // the writer's: this total before this ticket
    last = atomicInc(ticket + row, pieces - 1) == pieces - 1;  // and back to 0
    __threadfence();  // the reader's: no total older than the tickets it has seen
  }
  __syncthreads();
  if (!last) return;

  Total rest = Total::none();
  for (unsigned k = threadIdx.x; k < pieces; k += blockDim.x) rest.merge(partial[row * pieces + k]);
  rest = merge_block(rest, last_slot);
  if (threadIdx.x == 0) out[row] = rest.value();
}
// end rows-by-blocks

// begin column-per-warp
/// Each column's sum, by a warp per column. That was right for rows, but now the lanes of a warp
/// read a row's length apart, and each float costs a sector.
///
/// \param out  columns sums
/// \pre gridDim.x * (blockDim.x / 32) >= columns
__global__ void column_per_warp(const float* in, float* out, std::size_t rows, unsigned columns) {
  const unsigned column = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  Sum mine = Sum::none();
  if (column < columns) {
    for (std::size_t row = threadIdx.x % 32; row < rows; row += 32)
      mine.add(in[row * columns + column], 0);
  }
  mine = merge_lanes<32>(mine);
  if (column < columns && threadIdx.x % 32 == 0) out[column] = mine.value();
}
// end column-per-warp

// begin sums-of-columns
/// Each column's sum: a lane per column, so that a warp reads neighbours. Where there are fewer
/// than 32 columns, the lanes take as many rows at once as fit.
///
/// \param out      columns sums
/// \param partial  slices * columns floats
/// \param ticket   a word per 32 columns, 0 before the launch and after it
/// \pre gridDim.x == slices * ceil(columns / 32); blockDim.x is a multiple of 32
template <unsigned Loads>
__global__ void column_sums(const float* in, float* out, float* partial, unsigned* ticket,
                            std::size_t rows, unsigned columns, unsigned slices) {
  __shared__ float slot[32][32];
  __shared__ bool last;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const unsigned warps = blockDim.x / 32;
  const unsigned strips = gridDim.x / slices;
  const unsigned strip = blockIdx.x % strips;
  const unsigned slice = blockIdx.x / strips;
  const unsigned width = min(columns, 32u);
  const unsigned rows_at_once = 32 / width;
  const unsigned column = strip * 32 + lane % width;
  const bool hands_in = lane < width && column < columns;
  const std::size_t step = std::size_t{slices} * warps * rows_at_once;

  float sum = 0;
  if (lane < rows_at_once * width && column < columns) {
    std::size_t row = (std::size_t{slice} * warps + warp) * rows_at_once + lane / width;
    const float* next = in + row * columns + column;
    const std::size_t hop = step * columns;
    for (; row + (Loads - 1) * step < rows; row += Loads * step, next += Loads * hop) {
      float v[Loads];
#pragma unroll
      for (unsigned k = 0; k < Loads; ++k) v[k] = next[k * hop];
#pragma unroll
      for (unsigned k = 0; k < Loads; ++k) sum += v[k];
    }
    for (; row < rows; row += step, next += hop) sum += *next;
  }
  slot[warp][lane] = sum;
  __syncthreads();

  if (warp == 0) {
    if (hands_in) {
      sum = 0;
      for (unsigned k = 0; k < warps; ++k) {
        for (unsigned each = lane; each < rows_at_once * width; each += width) sum += slot[k][each];
      }
      partial[std::size_t{slice} * columns + column] = sum;
    }
    __syncwarp();  // all lanes' sums, which lane 0's fence then is for
    if (lane == 0) {
      __threadfence();  // the writers': these sums before this ticket
      last = atomicInc(ticket + strip, slices - 1) == slices - 1;
      __threadfence();  // the readers': no sum older than the tickets it has seen
    }
  }
  __syncthreads();
  if (!last) return;

  sum = 0;  // and once more, down the slices
  if (hands_in) {
    for (unsigned k = warp; k < slices; k += warps)
      sum += partial[std::size_t{k} * columns + column];
  }
  slot[warp][lane] = sum;
  __syncthreads();
  if (warp == 0 && hands_in) {
    for (unsigned k = 1; k < warps; ++k) sum += slot[k][lane];
    out[column] = sum;
  }
}
// end sums-of-columns

// begin copy-rows
/// One read and one write of everything, and nothing else: what no softmax can be faster than.
///
/// \pre gridDim.x * blockDim.x * Loads >= words
template <unsigned Loads>
__global__ void copy_rows(const float4* in, float4* out, std::size_t words) {
  const std::size_t first = std::size_t{blockIdx.x} * (Loads * blockDim.x) + threadIdx.x;
  float4 v[Loads];
#pragma unroll
  for (unsigned k = 0; k < Loads; ++k) {
    const std::size_t i = first + k * blockDim.x;
    if (i < words) v[k] = in[i];
  }
#pragma unroll
  for (unsigned k = 0; k < Loads; ++k) {
    const std::size_t i = first + k * blockDim.x;
    if (i < words) out[i] = v[k];
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
struct alignas(8) ExpSum {
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
/// \pre a cooperative launch; blockDim.x is a multiple of 32 and <= 512; gridDim.x is a multiple of
///      pieces; columns <= pieces * blockDim.x * Words * kPer<Word>
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
    __syncwarp();  // `volatile` alone orders no two lanes of a warp
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
