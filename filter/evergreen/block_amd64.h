// What lookup_amd64.s and line_amd64.s share.

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

// The values of patternFactor, of the multiplier of probe.Step, and of level.
DATA factor<>+0x00(SB)/8, $0x342543DE82EF9500
GLOBL factor<>(SB), RODATA|NOPTR, $8
#define STEP $0xD1342543DE82EF95
#define AVX512 $2
#define PORTABLE $0

// MIX leaves the mixed form of the key in AX there. DI holds t.
#define MIX \
	IMULQ table_mixer+mixer_factor(DI), AX

// ADDRESS leaves the lower half of the address of the mixed key in CX; more is never needed.
#define ADDRESS(mixed) \
	RORXQ $32, mixed, CX      \
	BSWAPL CX

// FINGERPRINT leaves that of the mixed key in AX there. BX holds 64 less the width.
#define FINGERPRINT \
	SHLQ $8, AX               \
	SHRXQ BX, AX, AX

// PATTERN leaves the pattern of the fingerprint in AX there.
#define PATTERN \
	IMULQ factor<>(SB), AX

// PLACE leaves in R11 how far the block of the address in CX is from block 0, and the
// address of block 0, as if it were in the same segment, in R10, and sets the zero
// flag if there is no such segment. R12 holds the state, its lower half the number of
// blocks. CX stays. LZCNT, unlike BSR, does not wait for what its register had before.
#define PLACE \
	LZCNTL R12, R10           \
	XORL $31, R10             \
	LEAL 1(R10), R11          \
	BZHIL R11, CX, R11        \
	BZHIL R10, CX, R10        \
	CMPL R11, R12             \
	CMOVLCC R10, R11          \
	LZCNTL R11, R10           \
	MOVQ (table_lines+lines_table)(DI)(R10*8), R10 \
	SHLQ $6, R11              \
	TESTQ R10, R10

// CONSTANTS512 loads what MASK512 needs. Registers from Z16 on need no VZEROUPPER.
#define CONSTANTS512 \
	VMOVDQU64 down<>(SB), Z16 \
	VPBROADCASTQ ones<>(SB), Z17

// MASK512 leaves the mask of the pattern in AX in Z18.
#define MASK512 \
	VPBROADCASTQ AX, Z18      \
	VPSRLVQ Z16, Z18, Z18     \
	VPROLVQ Z18, Z17, Z18

#define CONSTANTS256 \
	VMOVDQU up<>+0(SB), Y6    \
	VMOVDQU up<>+32(SB), Y7   \
	VMOVDQU ones<>(SB), Y5

// MASK256 leaves the mask of the pattern in AX in Y0 and Y1.
#define MASK256 \
	VMOVQ AX, X0              \
	VPBROADCASTQ X0, Y0       \
	VPSLLVQ Y7, Y0, Y1        \
	VPSLLVQ Y6, Y0, Y0        \
	VPSRLQ $58, Y0, Y0        \
	VPSRLQ $58, Y1, Y1        \
	VPSLLVQ Y0, Y5, Y0        \
	VPSLLVQ Y1, Y5, Y1

// HAS512 sets the zero flag if the block at R11 has all bits of all rounds of the
// pattern in AX. R13 holds the number of rounds.
#define HAS512(more, last) \
	MASK512                   \
	VPTESTNMQ (R11), Z18, K1  \
	MOVQ R13, BX              \
	DECQ BX                   \
	JZ   last                 \
	MOVQ STEP, R10            \
more:                      \
	IMULQ R10, AX             \
	MASK512                   \
	VPTESTNMQ (R11), Z18, K2  \
	KORB K2, K1, K1           \
	DECQ BX                   \
	JNZ  more                 \
last:                      \
	KORTESTB K1, K1

#define HAS256(more, last) \
	VMOVDQU (R11), Y2         \
	VMOVDQU 32(R11), Y3       \
	MASK256                   \
	VPANDN Y0, Y2, Y0         \
	VPANDN Y1, Y3, Y1         \
	VPOR Y0, Y1, Y4           \
	MOVQ R13, BX              \
	DECQ BX                   \
	JZ   last                 \
	MOVQ STEP, R10            \
more:                      \
	IMULQ R10, AX             \
	MASK256                   \
	VPANDN Y0, Y2, Y0         \
	VPANDN Y1, Y3, Y1         \
	VPOR Y0, Y4, Y4           \
	VPOR Y1, Y4, Y4           \
	DECQ BX                   \
	JNZ  more                 \
last:                      \
	VPTEST Y4, Y4

// TURN takes the address and the fingerprint that the first loop of a batch left.
#define TURN \
	MOVQ addresses-512(SP)(SI*8), R11 \
	MOVQ fingerprints-256(SP)(SI*8), AX \
	PATTERN

// ANSWER stores the zero flag as the answer to the key whose turn it is.
#define ANSWER \
	SETEQ BX                  \
	MOVB BX, (R9)(SI*1)       \
	INCQ SI                   \
	CMPQ SI, CX
