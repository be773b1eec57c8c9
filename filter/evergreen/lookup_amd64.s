//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"
#include "../../internal/line/line_amd64.h"

// MIX leaves the mixed form of the key in AX there. DI holds t.
#define MIX \
	IMULQ table_keying+keying_mixer+mixer_factor(DI), AX

// ADDRESS leaves the lower half of the address of the mixed key in CX; more is never needed.
#define ADDRESS(mixed) \
	RORXQ $32, mixed, CX      \
	BSWAPL CX

// FINGERPRINT leaves that of the mixed key in AX there. BX holds 64 less the width.
#define FINGERPRINT \
	SHLQ $8, AX               \
	SHRXQ BX, AX, AX

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

// TURN takes the address and the fingerprint that the first loop of a batch left.
#define TURN \
	MOVQ addresses-512(SP)(SI*8), R11 \
	MOVQ fingerprints-256(SP)(SI*8), AX \
	PATTERN(AX)

// ANSWER stores the zero flag as the answer to the key whose turn it is.
#define ANSWER \
	SETEQ BX                  \
	MOVB BX, (R9)(SI*1)       \
	INCQ SI                   \
	CMPQ SI, CX

// HAS answers for the key at k+8(FP) and the table in DI. It answers that the key is
// absent only if the state is the same before and after the look. One round of AVX-512 for whole keys,
// which is the common case, is told from the others first: its pattern can be made
// from all of the mixed key, since the upper byte, which is no part of the
// fingerprint, has no influence on it.
#define HAS(other, many, again, late, more, avx2, last512, more512, done512, last256, more256, done256) \
	CMPB table_simple(DI), $0 \
	JEQ  many                 \
	MOVQ k+8(FP), AX          \
	MIX                       \
	ADDRESS(AX)               \
	PATTERN(AX)               \
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
	CMPB table_level(DI), PORTABLE \
	JEQ  other                \
	MOVQ table_rounds(DI), R13 \
more:                      \
	MOVQ k+8(FP), AX          \
	MIX                       \
	ADDRESS(AX)               \
	MOVL $64, BX              \
	SUBQ (table_keying+keying_width)(DI), BX  \
	FINGERPRINT               \
	MOVQ table_state(DI), R12 \
	PLACE                     \
	JZ   more                 \
	ADDQ R10, R11             \
	CMPB table_level(DI), AVX512   \
	JNE  avx2                 \
	CONSTANTS512              \
	PATTERN(AX)               \
	HAS512(R11, AX, R13, BX, R10, more512, last512)  \
	SETEQ ret+16(FP)          \
	JEQ  done512              \
	CMPQ R12, table_state(DI) \
	JNE  more                 \
done512:                   \
	RET                       \
avx2:                      \
	CONSTANTS256              \
	PATTERN(AX)               \
	HAS256(R11, AX, R13, BX, R10, more256, last256)  \
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
	SUBQ (table_keying+keying_width)(DI), BX
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
	CMPB table_level(DI), AVX512
	JNE  avx2
	CONSTANTS512
test512:
	TURN
	HAS512(R11, AX, R13, BX, R10, more512, last512)
	ANSWER
	JNE  test512
end:
	RET

avx2:
	CONSTANTS256
test256:
	TURN
	HAS256(R11, AX, R13, BX, R10, more256, last256)
	ANSWER
	JNE  test256
	VZEROUPPER
	RET

// func tablePrefetch(t *table, mixed uint64)
TEXT ·tablePrefetch(SB), NOSPLIT, $0-16
	MOVQ t+0(FP), DI
	MOVQ mixed+8(FP), AX
	ADDRESS(AX)
	MOVQ table_state(DI), R12
	PLACE
	PREFETCHT0 (R10)(R11*1)
	RET
