// Random words: Philox4x32-10.

// The block that lies so many blocks behind a state. Each argument is the bits of an unsigned number.
MG_FN mg_vec<unsigned, 4> mg_philox(long long key, long long stream, long long position, long long offset) {
    mg_u64 low = (mg_u64)position + (mg_u64)offset;
    mg_u64 high = (mg_u64)stream + (low < (mg_u64)offset ? 1ull : 0ull);
    unsigned a = (unsigned)low, b = (unsigned)(low >> 32), c = (unsigned)high, d = (unsigned)(high >> 32);
    unsigned k = (unsigned)key, l = (unsigned)((mg_u64)key >> 32);
    for (int round = 0; round < 10; ++round) {
        mg_u64 p = 0xd2511f53ull * a, q = 0xcd9e8d57ull * c;
        a = (unsigned)(q >> 32) ^ b ^ k;
        b = (unsigned)q;
        c = (unsigned)(p >> 32) ^ d ^ l;
        d = (unsigned)p;
        k += 0x9e3779b9u;
        l += 0xbb67ae85u;
    }
    return mg_vec<unsigned, 4>{{a, b, c, d}};
}

// Word i of a block, chosen by comparisons: an array that is indexed by a variable would lie in memory.
MG_FN unsigned mg_word(const mg_vec<unsigned, 4>& block, int i) {
    return i < 2 ? (i == 0 ? block.x[0] : block.x[1]) : (i == 2 ? block.x[2] : block.x[3]);
}
