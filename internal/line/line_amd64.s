//go:build amd64 && !purego

#include "textflag.h"
#include "line_amd64.h"

// func blockHas(b *Block, fingerprint uint64, rounds int) bool
TEXT ·blockHas(SB), NOSPLIT, $0-25
	MOVQ b+0(FP), R11
	MOVQ fingerprint+8(FP), AX
	MOVQ rounds+16(FP), R13
	CMPB ·CPU(SB), AVX512
	JNE  avx2
	CONSTANTS512
	PATTERN(AX)
	HAS512(R11, AX, R13, BX, R10, more512, last512)
	SETEQ ret+24(FP)
	RET
avx2:
	CONSTANTS256
	PATTERN(AX)
	HAS256(R11, AX, R13, BX, R10, more256, last256)
	SETEQ ret+24(FP)
	VZEROUPPER
	RET

// func blockAdd(b *Block, fingerprint uint64, rounds int) (fresh bool)
TEXT ·blockAdd(SB), NOSPLIT, $0-25
	MOVQ b+0(FP), R11
	MOVQ fingerprint+8(FP), AX
	MOVQ rounds+16(FP), R13
	MOVQ STEP, R10
	CMPB ·CPU(SB), AVX512
	JNE  avx2
	CONSTANTS512
	PATTERN(AX)
	VMOVDQU64 (R11), Z20
	VMOVDQA64 Z20, Z19
round512:
	MASK512(AX)
	VPORQ Z18, Z19, Z19
	IMULQ R10, AX
	DECQ R13
	JNZ  round512
	VPCMPUQ $4, Z20, Z19, K1
	VMOVDQU64 Z19, (R11)
	KORTESTB K1, K1
	SETNE fresh+24(FP)
	RET
avx2:
	CONSTANTS256
	PATTERN(AX)
	VMOVDQU (R11), Y2
	VMOVDQU 32(R11), Y3
	VMOVDQA Y2, Y8
	VMOVDQA Y3, Y9
round256:
	MASK256(AX)
	VPOR Y0, Y2, Y2
	VPOR Y1, Y3, Y3
	IMULQ R10, AX
	DECQ R13
	JNZ  round256
	VMOVDQU Y2, (R11)
	VMOVDQU Y3, 32(R11)
	VPXOR Y2, Y8, Y8
	VPXOR Y3, Y9, Y9
	VPOR Y8, Y9, Y8
	VPTEST Y8, Y8
	SETNE fresh+24(FP)
	VZEROUPPER
	RET

// func blockStore(b, value *Block)
TEXT ·blockStore(SB), NOSPLIT, $0-16
	MOVQ b+0(FP), DI
	MOVQ value+8(FP), SI
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VZEROUPPER
	RET

// func blockCollect(b *Block, first *byte, n, width int, mask uint64, rounds int)
TEXT ·blockCollect(SB), NOSPLIT, $0-48
	MOVQ b+0(FP), DI
	MOVQ first+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ width+24(FP), R9
	MOVQ mask+32(FP), R11
	MOVQ rounds+40(FP), R13
	MOVQ STEP, R10
	CMPB ·CPU(SB), AVX512
	JNE  avx2

	CONSTANTS512
	VMOVDQU64 (DI), Z19
next512:
	MOVQ (SI), AX
	ANDQ R11, AX
	ADDQ R9, SI
	PATTERN(AX)
	MASK512(AX)
	VPORQ Z18, Z19, Z19
	MOVQ R13, BX
	DECQ BX
	JNZ  more512
done512:
	DECQ CX
	JNZ  next512
	VMOVDQU64 Z19, (DI)
	RET
more512:
	IMULQ R10, AX
	MASK512(AX)
	VPORQ Z18, Z19, Z19
	DECQ BX
	JNZ  more512
	JMP  done512

avx2:
	CONSTANTS256
	VMOVDQU (DI), Y2
	VMOVDQU 32(DI), Y3
next256:
	MOVQ (SI), AX
	ANDQ R11, AX
	ADDQ R9, SI
	PATTERN(AX)
	MOVQ R13, BX
more256:
	MASK256(AX)
	VPOR Y0, Y2, Y2
	VPOR Y1, Y3, Y3
	IMULQ R10, AX
	DECQ BX
	JNZ  more256
	DECQ CX
	JNZ  next256
	VMOVDQU Y2, (DI)
	VMOVDQU Y3, 32(DI)
	VZEROUPPER
	RET

// Numbers 0 to 7, which fingerprints of eight are where; and the lower five of each
// six bits of a pattern.
DATA eight<>+0x00(SB)/8, $0
DATA eight<>+0x08(SB)/8, $1
DATA eight<>+0x10(SB)/8, $2
DATA eight<>+0x18(SB)/8, $3
DATA eight<>+0x20(SB)/8, $4
DATA eight<>+0x28(SB)/8, $5
DATA eight<>+0x30(SB)/8, $6
DATA eight<>+0x38(SB)/8, $7
GLOBL eight<>(SB), RODATA|NOPTR, $64
DATA five<>+0x00(SB)/8, $0x7DF7DF7DF7DF0000
GLOBL five<>(SB), RODATA|NOPTR, $8

// DIFFER clears the highest of six bits in Z20 where the patterns in Z18 agree with
// that in Z22, for the lanes in K1.
#define DIFFER \
	VPXORQ Z22, Z18, Z19      \
	VPANDQ Z23, Z19, Z21      \
	VPADDQ Z23, Z21, Z21      \
	VPTERNLOGQ $0xE0, Z19, Z21, K1, Z20 // Z20 & (Z21 | Z19)

// func runDistinct(first *byte, n, width int, mask, p, except uint64, rounds int) (distinct uint64, at int)
//
// Eight fingerprints at a time. K1 has a bit for each of them that counts.
TEXT ·runDistinct(SB), NOSPLIT, $64-72
	MOVQ first+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ width+16(FP), R9
	MOVQ rounds+48(FP), R13
	MOVQ STEP, R10
	MOVQ $-1, R12
	VPBROADCASTQ R9, Z16
	VPMULLQ eight<>(SB), Z16, Z16 // how far each of the eight is from the first
	SHLQ $3, R9
	VPBROADCASTQ mask+24(FP), Z17
	VPBROADCASTQ p+32(FP), Z22
	VPBROADCASTQ except+40(FP), Z24
	VPBROADCASTQ five<>(SB), Z23
	VPBROADCASTQ factor<>(SB), Z25
	VPBROADCASTQ R10, Z26
	VPTERNLOGQ $0xFF, Z20, Z20, Z20
next:
	MOVL $0xFF, DX
	CMPQ CX, $8
	JGE  whole
	BZHIL CX, DX, DX
whole:
	KMOVW DX, K1
	KMOVW K1, K2
	VPXORQ Z18, Z18, Z18
	VPGATHERQQ (SI)(Z16*1), K2, Z18
	VPANDQ Z17, Z18, Z18
	VPCMPEQQ Z24, Z18, K1, K3
	KORTESTW K3, K3
	JNZ  found
compare:
	VPMULLQ Z25, Z18, Z18
	DIFFER
	MOVQ R13, BX
	DECQ BX
	JNZ  more
done:
	ADDQ R9, SI
	SUBQ $8, CX
	JGT  next

	VMOVDQU64 Z20, lanes-64(SP)
	MOVQ lanes-64(SP), AX
	ANDQ lanes-56(SP), AX
	ANDQ lanes-48(SP), AX
	ANDQ lanes-40(SP), AX
	ANDQ lanes-32(SP), AX
	ANDQ lanes-24(SP), AX
	ANDQ lanes-16(SP), AX
	ANDQ lanes-8(SP), AX
	MOVQ AX, distinct+56(FP)
	MOVQ R12, at+64(FP)
	RET
more:
	VPMULLQ Z26, Z18, Z18
	DIFFER
	DECQ BX
	JNZ  more
	JMP  done
found:
	KMOVW K3, AX
	BLSIL AX, BX
	KMOVW BX, K2
	KANDNW K1, K2, K1
	BSFL AX, AX
	MOVQ n+8(FP), R12
	SUBQ CX, R12
	ADDQ AX, R12
	VPTERNLOGQ $0xFF, Z24, Z24, Z24
	JMP  compare

// func runFind(first *byte, n, width int, mask, v uint64) int
TEXT ·runFind(SB), NOSPLIT, $0-48
	MOVQ first+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ width+16(FP), R9
	MOVQ mask+24(FP), R11
	MOVQ v+32(FP), DX
	MOVQ CX, R10
next:
	MOVQ (SI), AX
	XORQ DX, AX
	TESTQ R11, AX
	JZ   found
	ADDQ R9, SI
	DECQ CX
	JNZ  next
	MOVQ $-1, ret+40(FP)
	RET
found:
	SUBQ CX, R10
	MOVQ R10, ret+40(FP)
	RET

// func Prefetch(p unsafe.Pointer)
TEXT ·Prefetch(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	RET

// func PrefetchBytes(first *byte, n int)
TEXT ·PrefetchBytes(SB), NOSPLIT, $0-16
	MOVQ first+0(FP), AX
	MOVQ n+8(FP), CX
	ADDQ AX, CX
next:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	CMPQ AX, CX
	JLT  next
	PREFETCHT0 -1(CX)
	RET

// func Peek(p *uint64) uint64
TEXT ·Peek(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ (AX), AX
	MOVQ AX, ret+8(FP)
	RET
