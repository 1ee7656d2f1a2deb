
// Tensor cores.

// Four 8x8 matrices of 16-bit elements in shared memory, lane l giving the address of row l % 8 of matrix l / 8. Each lane
// gets of each matrix the elements (l / 4, 2 (l % 4)) and the one behind it; transposed, (2 (l % 4), l / 4) and the one
// below it. mg_mma adds to d the product of a 16x16 and a 16x8 matrix that were loaded so.
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
MG_FN void mg_ldmatrix(unsigned (&r)[4], const unsigned short* row) {
    asm volatile("{ .reg .u64 p; cvta.to.shared.u64 p, %4; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [p]; }"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "l"(row) : "memory");
}

MG_FN void mg_ldmatrix_trans(unsigned (&r)[4], const unsigned short* row) {
    asm volatile("{ .reg .u64 p; cvta.to.shared.u64 p, %4; ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [p]; }"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "l"(row) : "memory");
}

#define MG_MMA(NAME)                                                                                                    \
    MG_FN void mg_mma_##NAME(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {                         \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." #NAME "." #NAME ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "        \
            "{%8, %9}, {%0, %1, %2, %3};"                                                                               \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                            \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                                            \
    }
MG_MMA(f16)
MG_MMA(bf16)
#endif
#else
MG_FN void mg_ldmatrix(unsigned (&r)[4], const unsigned short* row) {
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; ++i) {
        const unsigned short* p = (const unsigned short*)__shfl_sync(MG_ALL_LANES, (mg_u64)row, 8 * i + lane / 4);
        r[i] = p[2 * (lane % 4)] | (unsigned)p[2 * (lane % 4) + 1] << 16;
    }
}

MG_FN void mg_ldmatrix_trans(unsigned (&r)[4], const unsigned short* row) {
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; ++i) {
        r[i] = 0;
        for (int j = 0; j < 2; ++j) {
            mg_u64 p = __shfl_sync(MG_ALL_LANES, (mg_u64)row, 8 * i + 2 * (lane % 4) + j);
            r[i] |= (unsigned)((const unsigned short*)p)[lane / 4] << (16 * j);
        }
    }
}

#define MG_MMA(NAME)                                                                                                    \
    MG_FN void mg_mma_##NAME(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {                         \
        int lane = threadIdx.x % 32;                                                                                    \
        for (int half = 0; half < 2; ++half) {                                                                          \
            for (int quarter = 0; quarter < 4; ++quarter) {                                                             \
                int left = lane / 4 * 4 + quarter, right = lane % 4 * 8 + quarter;                                      \
                unsigned x[2], y[2];                                                                                    \
                for (int i = 0; i < 2; ++i) {                                                                           \
                    x[i] = __shfl_sync(MG_ALL_LANES, a[i + 2 * half], left);                                            \
                    y[i] = __shfl_sync(MG_ALL_LANES, half ? b1 : b0, right + 4 * i);                                    \
                }                                                                                                       \
                for (int i = 0; i < 4; ++i) {                                                                           \
                    for (int k = 0; k < 2; ++k) {                                                                       \
                        float u = mg_from_##NAME((unsigned short)(x[i / 2] >> (16 * k)));                               \
                        d[i] += u * mg_from_##NAME((unsigned short)(y[i % 2] >> (16 * k)));                             \
                    }                                                                                                   \
                }                                                                                                       \
            }                                                                                                           \
        }                                                                                                               \
    }
MG_MMA(f16)
MG_MMA(bf16)
#endif
