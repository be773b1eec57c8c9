//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"
#include "block_amd64.h"

// HAS answers for the key at k+8(FP) and the table in DI. A no is given only if the
// state is the same before and after the look. One round of AVX-512 for whole keys,
// which is the common case, is told from the others first: its pattern can be made
// from all of the mixed key, since the upper byte, which is no part of the
// fingerprint, has no influence on it.
#define HAS(other, many, again, late, more, avx2, last512, more512, done512, last256, more256, done256) \
	CMPB table_simple(DI), $0 \
	JEQ  many                 \
	MOVQ k+8(FP), AX          \
	MIX                       \
	ADDRESS(AX)               \
	PATTERN                   \
	VPBROADCASTQ ones<>(SB), Z17 \
	VPBROADCASTQ AX, Z18      \
	VPSRLVQ down<>(SB), Z18, Z18 \
	VPROLVQ Z18, Z17, Z18     \
again:                     \
	MOVQ table_state(DI), R12 \
	PLACE                     \
	JZ   again                \
	VPTESTNMQ (R10)(R11*1), Z18, K1 \
	KORTESTB K1, K1           \
	SETEQ ret+16(FP)          \
	CMPQ R12, table_state(DI) \
	JNE  late                 \
	RET                       \
late:                      \
	CMPB ret+16(FP), $0       \
	JEQ  again                \
	RET                       \
many:                      \
	CMPB ·level(SB), PORTABLE \
	JEQ  other                \
	MOVQ table_rounds(DI), R13 \
more:                      \
	MOVQ k+8(FP), AX          \
	MIX                       \
	ADDRESS(AX)               \
	MOVL $64, BX              \
	SUBQ table_width(DI), BX  \
	FINGERPRINT               \
	MOVQ table_state(DI), R12 \
	PLACE                     \
	JZ   more                 \
	ADDQ R10, R11             \
	CMPB ·level(SB), AVX512   \
	JNE  avx2                 \
	CONSTANTS512              \
	PATTERN                   \
	HAS512(more512, last512)  \
	SETEQ ret+16(FP)          \
	JEQ  done512              \
	CMPQ R12, table_state(DI) \
	JNE  more                 \
done512:                   \
	RET                       \
avx2:                      \
	CONSTANTS256              \
	PATTERN                   \
	HAS256(more256, last256)  \
	SETEQ ret+16(FP)          \
	JEQ  done256              \
	CMPQ R12, table_state(DI) \
	JNE  more                 \
done256:                   \
	VZEROUPPER                \
	RET

// func tableHas(t *table, k filter.Key) bool
TEXT ·tableHas(SB), NOSPLIT, $0-17
	MOVQ t+0(FP), DI
	HAS(other, many, again, late, more, avx2, last512, more512, done512, last256, more256, done256)
other:
	JMP  ·tableLookup(SB)

// func filterHas(f *Filter, k filter.Key) bool
TEXT ·filterHas(SB), NOSPLIT, $0-17
	MOVQ f+0(FP), DI
	MOVQ Filter_table(DI), DI
	TESTQ DI, DI
	JZ   other
	HAS(other, many, again, late, more, avx2, last512, more512, done512, last256, more256, done256)
other:
	JMP  ·filterLookup(SB)

// func tableHasBatch(t *table, keys *filter.Key, n int, out *bool, s state) (gone bool)
//
// The first loop finds the blocks and asks for them, the second one tests them.
TEXT ·tableHasBatch(SB), NOSPLIT, $512-41
	MOVQ t+0(FP), DI
	MOVQ table_rounds(DI), R13
	MOVL $64, BX
	SUBQ table_width(DI), BX
	MOVQ s+32(FP), R12
	MOVQ keys+8(FP), R8
	MOVQ n+16(FP), DX
	MOVB $1, gone+40(FP)
	XORL SI, SI
find:
	MOVQ (R8)(SI*8), AX
	MIX
	ADDRESS(AX)
	FINGERPRINT
	PLACE
	JZ   end
	ADDQ R10, R11
	PREFETCHT0 (R11)
	MOVQ R11, addresses-512(SP)(SI*8)
	MOVQ AX, fingerprints-256(SP)(SI*8)
	INCQ SI
	CMPQ SI, DX
	JNE  find

	MOVB $0, gone+40(FP)
	MOVQ DX, CX
	MOVQ out+24(FP), R9
	XORL SI, SI
	CMPB ·level(SB), AVX512
	JNE  avx2
	CONSTANTS512
test512:
	TURN
	HAS512(more512, last512)
	ANSWER
	JNE  test512
end:
	RET

avx2:
	CONSTANTS256
test256:
	TURN
	HAS256(more256, last256)
	ANSWER
	JNE  test256
	VZEROUPPER
	RET

// func tableExpect(t *table, mixed uint64)
TEXT ·tableExpect(SB), NOSPLIT, $0-16
	MOVQ t+0(FP), DI
	MOVQ mixed+8(FP), AX
	ADDRESS(AX)
	MOVQ table_state(DI), R12
	PLACE
	PREFETCHT0 (R10)(R11*1)
	RET
