//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// One round of a pattern, word by word: bit 1 << (p >> shift & 63). AVX-512 has
// a rotation that takes its count modulo 64, AVX2 moves the six bits to the top
// and down again.

DATA down<>+0x00(SB)/8, $58
DATA down<>+0x08(SB)/8, $52
DATA down<>+0x10(SB)/8, $46
DATA down<>+0x18(SB)/8, $40
DATA down<>+0x20(SB)/8, $34
DATA down<>+0x28(SB)/8, $28
DATA down<>+0x30(SB)/8, $22
DATA down<>+0x38(SB)/8, $16
GLOBL down<>(SB), RODATA|NOPTR, $64

DATA up<>+0x00(SB)/8, $0
DATA up<>+0x08(SB)/8, $6
DATA up<>+0x10(SB)/8, $12
DATA up<>+0x18(SB)/8, $18
DATA up<>+0x20(SB)/8, $24
DATA up<>+0x28(SB)/8, $30
DATA up<>+0x30(SB)/8, $36
DATA up<>+0x38(SB)/8, $42
GLOBL up<>(SB), RODATA|NOPTR, $64

DATA ones<>+0x00(SB)/8, $1
DATA ones<>+0x08(SB)/8, $1
DATA ones<>+0x10(SB)/8, $1
DATA ones<>+0x18(SB)/8, $1
GLOBL ones<>(SB), RODATA|NOPTR, $32

// The values of filter.stepMultiplier and of level.
#define STEP $0xD1342543DE82EF95
#define AVX512 $2

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

// CONSTANTS512 loads what MASK512 needs. Registers from Z16 on need no VZEROUPPER.
#define CONSTANTS512 \
	MOVQ STEP, R8            \
	VMOVDQU64 down<>(SB), Z16 \
	VPBROADCASTQ ones<>(SB), Z17

// MASK512 leaves the mask of the pattern in CX in Z18.
#define MASK512 \
	VPBROADCASTQ CX, Z18      \
	VPSRLVQ Z16, Z18, Z18     \
	VPROLVQ Z18, Z17, Z18

#define CONSTANTS256 \
	MOVQ STEP, R8            \
	VMOVDQU up<>+0(SB), Y6   \
	VMOVDQU up<>+32(SB), Y7  \
	VMOVDQU ones<>(SB), Y5

// MASK256 leaves the mask of the pattern in CX in Y0 and Y1.
#define MASK256 \
	VMOVQ CX, X0             \
	VPBROADCASTQ X0, Y0      \
	VPSLLVQ Y7, Y0, Y1       \
	VPSLLVQ Y6, Y0, Y0       \
	VPSRLQ $58, Y0, Y0       \
	VPSRLQ $58, Y1, Y1       \
	VPSLLVQ Y0, Y5, Y0       \
	VPSLLVQ Y1, Y5, Y1

// HAS512 sets the zero flag if the block at DX has all bits of all rounds of the
// pattern in CX. R9 holds the number of rounds.
#define HAS512(more, last) \
	MASK512                   \
	VPTESTNMQ (DX), Z18, K1   \
	MOVQ R9, R10              \
	DECQ R10                  \
	JZ   last                 \
more:                      \
	IMULQ R8, CX              \
	MASK512                   \
	VPTESTNMQ (DX), Z18, K2   \
	KORB K2, K1, K1           \
	DECQ R10                  \
	JNZ  more                 \
last:                      \
	KORTESTB K1, K1

#define HAS256(more, last) \
	VMOVDQU (DX), Y2          \
	VMOVDQU 32(DX), Y3        \
	MASK256                   \
	VPANDN Y0, Y2, Y0         \
	VPANDN Y1, Y3, Y1         \
	VPOR Y0, Y1, Y4           \
	MOVQ R9, R10              \
	DECQ R10                  \
	JZ   last                 \
more:                      \
	IMULQ R8, CX              \
	MASK256                   \
	VPANDN Y0, Y2, Y0         \
	VPANDN Y1, Y3, Y1         \
	VPOR Y0, Y4, Y4           \
	VPOR Y1, Y4, Y4           \
	DECQ R10                  \
	JNZ  more                 \
last:                      \
	VPTEST Y4, Y4

// ADD512 sets the bits of all rounds in the block at DX and leaves the number of
// those that were clear in BX.
#define ADD512(round) \
	XORL BX, BX               \
	MOVQ R9, R10              \
	VMOVDQU64 (DX), Z19       \
round:                     \
	MASK512                   \
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
	MASK256                   \
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
	CONSTANTS512
	LOCATE
	MASK512
	VPTESTNMQ (DX), Z18, K1
	KORTESTB K1, K1
	SETEQ ret+16(FP)
	RET

// func blockAddOne(f *Blocked, k filter.Key) (fresh uint64)
TEXT ·blockAddOne(SB), NOSPLIT, $0-24
	MOVQ f+0(FP), DI
	MOVQ k+8(FP), AX
	CONSTANTS512
	LOCATE
	MASK512
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
	MOVQ Blocked_rounds(DI), R9
	CMPB ·level(SB), AVX512
	JNE  avx2

	CONSTANTS512
	LOCATE
	HAS512(more512, last512)
	SETEQ ret+16(FP)
	RET

avx2:
	CONSTANTS256
	LOCATE
	HAS256(more256, last256)
	SETEQ ret+16(FP)
	VZEROUPPER
	RET

// func blockAdd(f *Blocked, k filter.Key) (fresh uint64)
TEXT ·blockAdd(SB), NOSPLIT, $0-24
	MOVQ f+0(FP), DI
	MOVQ k+8(FP), AX
	MOVQ Blocked_rounds(DI), R9
	CMPB ·level(SB), AVX512
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
	CMPB ·level(SB), AVX512
	JNE  avx2

	CONSTANTS512
loop512:
	NEXT(there512)
	HAS512(more512, last512)
	SETEQ (R11)(R12*1)
	INCQ R12
	CMPQ R12, R13
	JNE  loop512
	RET

avx2:
	CONSTANTS256
loop256:
	NEXT(there256)
	HAS256(more256, last256)
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
	CMPB ·level(SB), AVX512
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
