
// Tensor cores.

// Four 8x8 matrices of 16-bit elements in shared memory, lane l giving the address of row l % 8 of matrix l / 8. Each lane
// gets of each matrix the elements (l / 4, 2 (l % 4)) and the one behind it; transposed, (2 (l % 4), l / 4) and the one
// below it. mg_mma adds to d the product of a 16x16 and a 16x8 matrix that were loaded so. All lanes of a warp make each of
// these calls together, at one place of a kernel.
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
#define MG_CALL_SITE
MG_FN void mg_ldmatrix(unsigned (&r)[4], const unsigned short* row MG_CALL_SITE) {
    asm volatile("{ .reg .u64 p; cvta.to.shared.u64 p, %4; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [p]; }"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "l"(row) : "memory");
}

MG_FN void mg_ldmatrix_trans(unsigned (&r)[4], const unsigned short* row MG_CALL_SITE) {
    asm volatile("{ .reg .u64 p; cvta.to.shared.u64 p, %4; ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [p]; }"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "l"(row) : "memory");
}

#define MG_MMA(NAME)                                                                                                    \
    MG_FN void mg_mma_##NAME(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1 MG_CALL_SITE) {            \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." #NAME "." #NAME ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "        \
            "{%8, %9}, {%0, %1, %2, %3};"                                                                               \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                            \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                                            \
    }
MG_MMA(f16)
MG_MMA(bf16)
#endif
#else
// A twin gives the pointers of all lanes to one operation. The line of the call tells one place of a kernel from another.
#define MG_CALL_SITE , unsigned line = __builtin_LINE()

struct mg_matrix_row {
    mg_vec<unsigned short, 8> row;
    unsigned* r;
};

EMU_OPERATION void mg_deal_rows(void** lanes) {
    for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 4; ++i) {
            const unsigned short* row = ((const mg_matrix_row*)lanes[8 * i + lane / 4])->row.x;
            ((mg_matrix_row*)lanes[lane])->r[i] = row[2 * (lane % 4)] | (unsigned)row[2 * (lane % 4) + 1] << 16;
        }
    }
}

EMU_OPERATION void mg_deal_columns(void** lanes) {
    for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 4; ++i) {
            int k = 8 * i + 2 * (lane % 4);
            unsigned low = ((const mg_matrix_row*)lanes[k])->row.x[lane / 4];
            unsigned high = ((const mg_matrix_row*)lanes[k + 1])->row.x[lane / 4];
            ((mg_matrix_row*)lanes[lane])->r[i] = low | high << 16;
        }
    }
}

MG_FN void mg_ldmatrix(unsigned (&r)[4], const unsigned short* row MG_CALL_SITE) {
    mg_matrix_row mine = {mg_load<8>(row), r};
    emu_together(mg_deal_rows, &mine, "mg_ldmatrix", line);
}

MG_FN void mg_ldmatrix_trans(unsigned (&r)[4], const unsigned short* row MG_CALL_SITE) {
    mg_matrix_row mine = {mg_load<8>(row), r};
    emu_together(mg_deal_columns, &mine, "mg_ldmatrix_trans", line);
}

struct mg_fragments {
    float* d;
    const unsigned* a;
    unsigned b[2];
};

// Adds the products to d one by one, k ascending, rounding each sum to a float.
template <float (*from)(unsigned short)> EMU_OPERATION void mg_multiply(void** lanes) {
    float a[16][16], b[16][8];
    for (int lane = 0; lane < 32; ++lane) {
        const mg_fragments& mine = *(const mg_fragments*)lanes[lane];
        int major = lane / 4, minor = lane % 4 * 2;
        for (int k = 0; k < 2; ++k) {
            for (int i = 0; i < 4; ++i) {
                a[major + i % 2 * 8][minor + i / 2 * 8 + k] = from((unsigned short)(mine.a[i] >> (16 * k)));
            }
            for (int i = 0; i < 2; ++i) b[minor + i * 8 + k][major] = from((unsigned short)(mine.b[i] >> (16 * k)));
        }
    }
    for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 4; ++i) {
            float d = ((const mg_fragments*)lanes[lane])->d[i];
            for (int k = 0; k < 16; ++k) d += a[lane / 4 + i / 2 * 8][k] * b[k][lane % 4 * 2 + i % 2];
            ((const mg_fragments*)lanes[lane])->d[i] = d;
        }
    }
}

#define MG_MMA(NAME)                                                                                                    \
    MG_FN void mg_mma_##NAME(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1 MG_CALL_SITE) {            \
        mg_fragments mine = {d, a, {b0, b1}};                                                                           \
        emu_together(mg_multiply<mg_from_##NAME>, &mine, "mg_mma_" #NAME, line);                                        \
    }
MG_MMA(f16)
MG_MMA(bf16)
#endif
