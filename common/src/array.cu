// The kernels that fill what sum.cpp and whole_sum.cpp have in device memory.
#include "book/array.hpp"

namespace book {

template void Array<int>::fill_there(const Input&);
template void Array<int>::fill_there(const Constant<int>&);
template void Array<unsigned>::fill_there(const Constant<unsigned>&);
template void Array<long long>::fill_there(const Constant<long long>&);

}  // namespace book
