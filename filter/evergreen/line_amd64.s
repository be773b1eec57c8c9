//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"
#include "block_amd64.h"

// func lineHas(b *block, fingerprint uint64, rounds int) bool
TEXT ·lineHas(SB), NOSPLIT, $0-25
	MOVQ b+0(FP), R11
	MOVQ fingerprint+8(FP), AX
	MOVQ rounds+16(FP), R13
	CMPB ·level(SB), AVX512
	JNE  avx2
	CONSTANTS512
	PATTERN
	HAS512(more512, last512)
	SETEQ ret+24(FP)
	RET
avx2:
	CONSTANTS256
	PATTERN
	HAS256(more256, last256)
	SETEQ ret+24(FP)
	VZEROUPPER
	RET

// func lineAdd(b *block, fingerprint uint64, rounds int) (fresh bool)
TEXT ·lineAdd(SB), NOSPLIT, $0-25
	MOVQ b+0(FP), R11
	MOVQ fingerprint+8(FP), AX
	MOVQ rounds+16(FP), R13
	MOVQ STEP, R10
	CMPB ·level(SB), AVX512
	JNE  avx2
	CONSTANTS512
	PATTERN
	VMOVDQU64 (R11), Z20
	VMOVDQA64 Z20, Z19
round512:
	MASK512
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
	PATTERN
	VMOVDQU (R11), Y2
	VMOVDQU 32(R11), Y3
	VMOVDQA Y2, Y8
	VMOVDQA Y3, Y9
round256:
	MASK256
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

// func lineStore(b, value *block)
TEXT ·lineStore(SB), NOSPLIT, $0-16
	MOVQ b+0(FP), DI
	MOVQ value+8(FP), SI
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VZEROUPPER
	RET

// func lineCollect(b *block, first *byte, n, width int, mask, except uint64, rounds int) (at int)
//
// R12 becomes the place of the one that is left out; until then a comparison with it can
// succeed.
TEXT ·lineCollect(SB), NOSPLIT, $0-64
	MOVQ b+0(FP), DI
	MOVQ first+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ width+24(FP), R9
	MOVQ mask+32(FP), R11
	MOVQ except+40(FP), R8
	MOVQ rounds+48(FP), R13
	MOVQ STEP, R10
	MOVQ $-1, R12
	CMPB ·level(SB), AVX512
	JNE  avx2

	CONSTANTS512
	VMOVDQU64 (DI), Z19
next512:
	MOVQ (SI), AX
	ANDQ R11, AX
	ADDQ R9, SI
	CMPQ AX, R8
	JEQ  found512
	PATTERN
	MASK512
	VPORQ Z18, Z19, Z19
	MOVQ R13, BX
	DECQ BX
	JNZ  more512
done512:
	DECQ CX
	JNZ  next512
	VMOVDQU64 Z19, (DI)
	MOVQ R12, at+56(FP)
	RET
more512:
	IMULQ R10, AX
	MASK512
	VPORQ Z18, Z19, Z19
	DECQ BX
	JNZ  more512
	JMP  done512
found512:
	MOVQ n+16(FP), R12
	SUBQ CX, R12
	MOVQ $-1, R8
	JMP  done512

avx2:
	CONSTANTS256
	VMOVDQU (DI), Y2
	VMOVDQU 32(DI), Y3
next256:
	MOVQ (SI), AX
	ANDQ R11, AX
	ADDQ R9, SI
	CMPQ AX, R8
	JEQ  found256
	PATTERN
	MOVQ R13, BX
more256:
	MASK256
	VPOR Y0, Y2, Y2
	VPOR Y1, Y3, Y3
	IMULQ R10, AX
	DECQ BX
	JNZ  more256
done256:
	DECQ CX
	JNZ  next256
	VMOVDQU Y2, (DI)
	VMOVDQU Y3, 32(DI)
	VZEROUPPER
	MOVQ R12, at+56(FP)
	RET
found256:
	MOVQ n+16(FP), R12
	SUBQ CX, R12
	MOVQ $-1, R8
	JMP  done256

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

// func prefetch(p unsafe.Pointer)
TEXT ·prefetch(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	RET

// func prefetchRun(first *byte, bytes int)
TEXT ·prefetchRun(SB), NOSPLIT, $0-16
	MOVQ first+0(FP), AX
	MOVQ bytes+8(FP), CX
	ADDQ AX, CX
next:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	CMPQ AX, CX
	JLT  next
	PREFETCHT0 -1(CX)
	RET

// func peek(p *uint64) uint64
TEXT ·peek(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ (AX), AX
	MOVQ AX, ret+8(FP)
	RET
