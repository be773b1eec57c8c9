// What the assembly of this package and the lookups of the kinds share.

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

// The values of patternFactor, of stepFactor, and of the levels.
DATA factor<>+0x00(SB)/8, $0x342543DE82EF9500
GLOBL factor<>(SB), RODATA|NOPTR, $8
#define STEP $0xD1342543DE82EF95
#define AVX512 $2
#define PORTABLE $0

// PATTERN leaves the pattern of the fingerprint in p there.
#define PATTERN(p) \
	IMULQ factor<>(SB), p

// CONSTANTS512 loads what MASK512 needs. Registers from Z16 on need no VZEROUPPER.
#define CONSTANTS512 \
	VMOVDQU64 down<>(SB), Z16 \
	VPBROADCASTQ ones<>(SB), Z17

// MASK512 leaves the mask of the pattern in p in Z18.
#define MASK512(p) \
	VPBROADCASTQ p, Z18       \
	VPSRLVQ Z16, Z18, Z18     \
	VPROLVQ Z18, Z17, Z18

#define CONSTANTS256 \
	VMOVDQU up<>+0(SB), Y6    \
	VMOVDQU up<>+32(SB), Y7   \
	VMOVDQU ones<>(SB), Y5

// MASK256 leaves the mask of the pattern in p in Y0 and Y1.
#define MASK256(p) \
	VMOVQ p, X0               \
	VPBROADCASTQ X0, Y0       \
	VPSLLVQ Y7, Y0, Y1        \
	VPSLLVQ Y6, Y0, Y0        \
	VPSRLQ $58, Y0, Y0        \
	VPSRLQ $58, Y1, Y1        \
	VPSLLVQ Y0, Y5, Y0        \
	VPSLLVQ Y1, Y5, Y1

// HAS512 sets the zero flag if the block at the address in at has all bits of all
// rounds of the pattern in p. The registers left and step are used.
#define HAS512(at, p, rounds, left, step, more, last) \
	MASK512(p)                \
	VPTESTNMQ (at), Z18, K1   \
	MOVQ rounds, left         \
	DECQ left                 \
	JZ   last                 \
	MOVQ STEP, step           \
more:                      \
	IMULQ step, p             \
	MASK512(p)                \
	VPTESTNMQ (at), Z18, K2   \
	KORB K2, K1, K1           \
	DECQ left                 \
	JNZ  more                 \
last:                      \
	KORTESTB K1, K1

#define HAS256(at, p, rounds, left, step, more, last) \
	VMOVDQU (at), Y2          \
	VMOVDQU 32(at), Y3        \
	MASK256(p)                \
	VPANDN Y0, Y2, Y0         \
	VPANDN Y1, Y3, Y1         \
	VPOR Y0, Y1, Y4           \
	MOVQ rounds, left         \
	DECQ left                 \
	JZ   last                 \
	MOVQ STEP, step           \
more:                      \
	IMULQ step, p             \
	MASK256(p)                \
	VPANDN Y0, Y2, Y0         \
	VPANDN Y1, Y3, Y1         \
	VPOR Y0, Y4, Y4           \
	VPOR Y1, Y4, Y4           \
	DECQ left                 \
	JNZ  more                 \
last:                      \
	VPTEST Y4, Y4
