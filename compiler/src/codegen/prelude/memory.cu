
// Index arithmetic, and vectors in memory.

template <class T> MG_FN T mg_limit(T x, T extent) { return x < (T)0 ? (T)0 : x < extent ? x : extent - (T)1; }

template <class T, int N> struct alignas(sizeof(T) * N) mg_vec {
    T x[N];
};

template <int N, class T> MG_FN mg_vec<T, N> mg_load(const T* p) { return *(const mg_vec<T, N>*)p; }
template <int N, class T> MG_FN void mg_store(T* p, const mg_vec<T, N>& v) { *(mg_vec<T, N>*)p = v; }
