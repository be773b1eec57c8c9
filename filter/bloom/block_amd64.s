//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"
#include "../../internal/line/line_amd64.h"

// How many keys ahead a batch asks for the blocks. Chosen by measurement: from
// 8 to 24 nothing changes.
#define AHEAD 12

// ADDRESS leaves the address of the block of the key in AX in DX and what
// Mixer.Mix gave in AX. DI holds f.
#define ADDRESS \
	XORQ Blocked_mixer(DI), AX \
	MULQ Blocked_mixer(DI)  \
	XORQ DX, AX             \
	MOVQ AX, CX             \
	MULQ Blocked_blocks(DI) \
	SHLQ $6, DX             \
	ADDQ Blocked_first(DI), DX

// LOCATE is ADDRESS, and the pattern of the first round in CX. R15 is not used:
// it belongs to dynamic linking. R8 holds STEP.
#define LOCATE \
	ADDRESS        \
	IMULQ R8, CX

// ADD512 sets the bits of all rounds in the block at DX and leaves the number of
// those that were clear in BX.
#define ADD512(round) \
	XORL BX, BX               \
	MOVQ R9, R10              \
	VMOVDQU64 (DX), Z19       \
round:                     \
	MASK512(CX)               \
	VPTESTNMQ Z19, Z18, K1    \
	VPORQ Z18, Z19, Z19       \
	KMOVB K1, AX              \
	POPCNTL AX, AX            \
	ADDQ AX, BX               \
	IMULQ R8, CX              \
	DECQ R10                  \
	JNZ  round                \
	VMOVDQU64 Z19, (DX)

#define ADD256(round) \
	XORL BX, BX               \
	MOVQ R9, R10              \
	VMOVDQU (DX), Y2          \
	VMOVDQU 32(DX), Y3        \
	VPXOR Y4, Y4, Y4          \
round:                     \
	MASK256(CX)               \
	VPAND Y0, Y2, Y8          \
	VPAND Y1, Y3, Y9          \
	VPOR Y0, Y2, Y2           \
	VPOR Y1, Y3, Y3           \
	VPCMPEQQ Y8, Y4, Y8       \
	VPCMPEQQ Y9, Y4, Y9       \
	VMOVMSKPD Y8, AX          \
	VMOVMSKPD Y9, R11         \
	POPCNTL AX, AX            \
	POPCNTL R11, R11          \
	ADDQ AX, BX               \
	ADDQ R11, BX              \
	IMULQ R8, CX              \
	DECQ R10                  \
	JNZ  round                \
	VMOVDQU Y2, (DX)          \
	VMOVDQU Y3, 32(DX)

// BATCH loads the arguments of a batch: keys in SI, their number in R13, and
// asks for the first blocks. R12 counts the keys.
#define BATCH(first, start) \
	MOVQ f+0(FP), DI            \
	MOVQ keys+8(FP), SI         \
	MOVQ n+16(FP), R13          \
	MOVQ Blocked_rounds(DI), R9 \
	MOVQ STEP, R8               \
	XORL R12, R12               \
first:                       \
	MOVQ (SI)(R12*8), AX        \
	ADDRESS                     \
	PREFETCHT0 (DX)             \
	INCQ R12                    \
	CMPQ R12, R13               \
	JEQ  start                  \
	CMPQ R12, $AHEAD            \
	JNE  first                  \
start:                       \
	XORL R12, R12

// NEXT asks for the block AHEAD keys further on, if there is one, and takes the
// key whose turn it is.
#define NEXT(there) \
	LEAQ AHEAD(R12), BX        \
	CMPQ BX, R13               \
	JGE  there                 \
	MOVQ (SI)(BX*8), AX        \
	ADDRESS                    \
	PREFETCHT0 (DX)            \
there:                      \
	MOVQ (SI)(R12*8), AX       \
	LOCATE

// COUNT adds the fresh bits in BX to fresh, and the key to added if there are any.
#define COUNT \
	ADDQ BX, fresh+24(FP) \
	CMPQ BX, $1           \
	SBBQ $-1, added+32(FP)

// func blockHasOne(f *Blocked, k filter.Key) bool
TEXT ·blockHasOne(SB), NOSPLIT, $0-17
	MOVQ f+0(FP), DI
	MOVQ k+8(FP), AX
	MOVQ STEP, R8
	CONSTANTS512
	LOCATE
	MASK512(CX)
	VPTESTNMQ (DX), Z18, K1
	KORTESTB K1, K1
	SETEQ ret+16(FP)
	RET

// func blockAddOne(f *Blocked, k filter.Key) (fresh uint64)
TEXT ·blockAddOne(SB), NOSPLIT, $0-24
	MOVQ f+0(FP), DI
	MOVQ k+8(FP), AX
	MOVQ STEP, R8
	CONSTANTS512
	LOCATE
	MASK512(CX)
	VMOVDQU64 (DX), Z19
	VPTESTNMQ Z19, Z18, K1
	VPORQ Z18, Z19, Z19
	VMOVDQU64 Z19, (DX)
	KMOVB K1, AX
	POPCNTL AX, AX
	MOVQ AX, fresh+16(FP)
	RET

// func blockHas(f *Blocked, k filter.Key) bool
TEXT ·blockHas(SB), NOSPLIT, $0-17
	MOVQ f+0(FP), DI
	MOVQ k+8(FP), AX
	MOVQ STEP, R8
	MOVQ Blocked_rounds(DI), R9
	CMPB Blocked_level(DI), AVX512
	JNE  avx2

	CONSTANTS512
	LOCATE
	HAS512(DX, CX, R9, R10, R8, more512, last512)
	SETEQ ret+16(FP)
	RET

avx2:
	CONSTANTS256
	LOCATE
	HAS256(DX, CX, R9, R10, R8, more256, last256)
	SETEQ ret+16(FP)
	VZEROUPPER
	RET

// func blockAdd(f *Blocked, k filter.Key) (fresh uint64)
TEXT ·blockAdd(SB), NOSPLIT, $0-24
	MOVQ f+0(FP), DI
	MOVQ k+8(FP), AX
	MOVQ STEP, R8
	MOVQ Blocked_rounds(DI), R9
	CMPB Blocked_level(DI), AVX512
	JNE  avx2

	CONSTANTS512
	LOCATE
	ADD512(round512)
	MOVQ BX, fresh+16(FP)
	RET

avx2:
	CONSTANTS256
	LOCATE
	ADD256(round256)
	MOVQ BX, fresh+16(FP)
	VZEROUPPER
	RET

// func blockHasBatch(f *Blocked, keys *filter.Key, n int, out *bool)
TEXT ·blockHasBatch(SB), NOSPLIT, $0-32
	BATCH(first, start)
	MOVQ out+24(FP), R11
	CMPB Blocked_level(DI), AVX512
	JNE  avx2

	CONSTANTS512
loop512:
	NEXT(there512)
	HAS512(DX, CX, R9, R10, R8, more512, last512)
	SETEQ (R11)(R12*1)
	INCQ R12
	CMPQ R12, R13
	JNE  loop512
	RET

avx2:
	CONSTANTS256
loop256:
	NEXT(there256)
	HAS256(DX, CX, R9, R10, R8, more256, last256)
	SETEQ (R11)(R12*1)
	INCQ R12
	CMPQ R12, R13
	JNE  loop256
	VZEROUPPER
	RET

// func blockAddBatch(f *Blocked, keys *filter.Key, n int) (fresh, added uint64)
TEXT ·blockAddBatch(SB), NOSPLIT, $0-40
	BATCH(first, start)
	MOVQ $0, fresh+24(FP)
	MOVQ $0, added+32(FP)
	CMPB Blocked_level(DI), AVX512
	JNE  avx2

	CONSTANTS512
loop512:
	NEXT(there512)
	ADD512(round512)
	COUNT
	INCQ R12
	CMPQ R12, R13
	JNE  loop512
	RET

avx2:
	CONSTANTS256
loop256:
	NEXT(there256)
	ADD256(round256)
	COUNT
	INCQ R12
	CMPQ R12, R13
	JNE  loop256
	VZEROUPPER
	RET
