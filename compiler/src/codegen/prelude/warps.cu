
// What the lanes of a warp tell each other.

#define MG_ALL_LANES 0xffffffffu

template <class T> MG_FN T mg_shfl_xor(T x, int offset) { return __shfl_xor_sync(MG_ALL_LANES, x, offset); }
template <class T> MG_FN T mg_shfl_up(T x, int offset) { return __shfl_up_sync(MG_ALL_LANES, x, offset); }
#define MG_SHUFFLE_AS_INT(T)                                                                                            \
    MG_FN T mg_shfl_xor(T x, int offset) { return (T)__shfl_xor_sync(MG_ALL_LANES, (int)x, offset); }                   \
    MG_FN T mg_shfl_up(T x, int offset) { return (T)__shfl_up_sync(MG_ALL_LANES, (int)x, offset); }
MG_SHUFFLE_AS_INT(bool)
MG_SHUFFLE_AS_INT(signed char)
MG_SHUFFLE_AS_INT(unsigned char)

// The lanes for which `exists` holds and whose lowest eight bits of `digit` are this lane's.
MG_FN unsigned mg_same_digit(unsigned digit, bool exists) {
    unsigned same = __ballot_sync(MG_ALL_LANES, exists);
    for (int b = 0; b < 8; ++b) {
        unsigned set = __ballot_sync(MG_ALL_LANES, (digit >> b & 1) != 0);
        same &= (digit >> b & 1) != 0 ? set : ~set;
    }
    return same;
}

// Whether the candidate (b, j) comes before (a, i) as greatest or smallest: NaN first, then the extreme, then the index.
template <class T> MG_FN bool mg_argmax_before(T a, long long i, T b, long long j) {
    if (b != b) return a == a || j < i;
    return a == a && (b > a || (b == a && j < i));
}
template <class T> MG_FN bool mg_argmin_before(T a, long long i, T b, long long j) {
    if (b != b) return a == a || j < i;
    return a == a && (b < a || (b == a && j < i));
}
