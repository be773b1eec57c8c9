//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// PATH leaves paths[i]·R8 mod R9 in BX: factor.times.
#define PATH(i) \
	MOVQ (quick_paths+i*factor__size+factor_ratio)(DI), AX  \
	MULQ R8                                                 \
	MOVQ (quick_paths+i*factor__size+factor_value)(DI), BX  \
	IMULQ R8, BX                                            \
	IMULQ R9, DX                                            \
	SUBQ DX, BX                                             \
	MOVQ BX, DX                                             \
	SUBQ R9, DX                                             \
	CMOVQCC DX, BX

// BUCKET compares the bucket of BX in the subtable at SI with what BX would be
// there: X becomes all ones in every lane that is the same. Counters are masked
// by X4, X5 is zero. Nothing is said about alignment, hence the load by itself.
#define BUCKET(X) \
	MOVQ BX, X                  \
	SHRQ CX, BX                 \
	SHLQ $4, BX                 \
	PSHUFLW $0, X, X            \
	PUNPCKLQDQ X, X             \
	MOVOU (SI)(BX*1), X6        \
	PXOR X6, X                  \
	PAND X4, X                  \
	PCMPEQW X5, X

// func quickHas(q *quick, k filter.Key) bool
TEXT ·quickHas(SB), NOSPLIT, $0-17
	MOVQ q+0(FP), DI
	MOVQ k+8(FP), AX

	// R8 is the fingerprint: see Mixer.Mix, Reduce and mend.
	MOVQ quick_mixer(DI), DX
	XORQ DX, AX
	MULQ DX
	XORQ DX, AX
	MOVQ quick_space(DI), R9
	MULQ R9
	MOVQ DX, R8
	ANDQ quick_mask(DI), DX
	CMPQ DX, $1
	ADCQ $0, R8

	MOVQ quick_shift(DI), CX
	MOVQ quick_first(DI), SI
	MOVQ quick_stride(DI), R10
	MOVOU quick_low(DI), X4
	PXOR X5, X5

	MOVQ R8, BX
	BUCKET(X0)
	ADDQ R10, SI
	PATH(0)
	BUCKET(X1)
	ADDQ R10, SI
	PATH(1)
	BUCKET(X2)
	POR X1, X0
	POR X2, X0
	CMPQ quick_four(DI), $0
	JEQ done
	ADDQ R10, SI
	PATH(2)
	BUCKET(X3)
	POR X3, X0

done:
	PMOVMSKB X0, AX
	TESTL AX, AX
	SETNE ret+16(FP)
	RET
