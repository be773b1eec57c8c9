//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// REVERSE leaves the bits of x in reversed order there, and uses AX and CX.
#define REVERSE(x) \
	BSWAPQ x                      \
	MOVQ   $0x0F0F0F0F0F0F0F0F, AX \
	MOVQ   x, CX                  \
	SHRQ   $4, CX                 \
	ANDQ   AX, CX                 \
	ANDQ   AX, x                  \
	SHLQ   $4, x                  \
	ORQ    CX, x                  \
	MOVQ   $0x3333333333333333, AX \
	MOVQ   x, CX                  \
	SHRQ   $2, CX                 \
	ANDQ   AX, CX                 \
	ANDQ   AX, x                  \
	LEAQ   (CX)(x*4), x           \
	MOVQ   $0x5555555555555555, AX \
	MOVQ   x, CX                  \
	SHRQ   $1, CX                 \
	ANDQ   AX, CX                 \
	ANDQ   AX, x                  \
	LEAQ   (CX)(x*2), x

// LOCATE is layout.locate. It takes the ring in DI, the key in DX and the state in R12, and
// leaves the number of the bucket without those from lines before in AX, what is behind its
// bits in the key in CX, the number of the line in R10, and its level, its row and the lines
// of its group in X1, X2 and X3, and the mixed key in X7. It uses BX, DX, SI, R8, R9, R11 and R13.
#define LOCATE \
	MOVQ    ring_mixer(DI), CX    \
	XORQ    CX, DX                \
	MULXQ   CX, AX, BX            \
	XORQ    AX, BX                \
	MOVQ    BX, X7                \
	MOVQ    BX, R8                \
	REVERSE(R8)                   \
	MOVQ    R12, R13              \
	SHRQ    $8, R13               \
	MOVQ    R13, R10              \
	SHRQ    $8, R10               \
	BZHIQ   R13, R8, R9           \
	MOVBLZX R12, R11              \
	CMPQ    R9, R10               \
	ADCL    $0, R11               \
	XORL    AX, AX                \
	CMPL    R11, $(2*const_minLines) \
	SETEQ   AX                    \
	MOVBLZX R13, R13              \
	ADDL    AX, R13               \
	LEAL    (AX)(AX*2), CX        \
	SUBL    CX, R11               \
	BZHIQ   R13, R8, R9           \
	SHLXQ   R13, BX, CX           \
	MOVQ    CX, AX                \
	SHRQ    $(64-const_bucketLog), AX \
	MOVL    AX, R10               \
	IMULL   R11, R10              \
	SHRL    $const_bucketLog, R10 \
	MOVQ    R13, X1               \
	MOVQ    R10, X2               \
	MOVQ    R11, X3               \
	LEAQ    ·starts(SB), SI       \
	LEAL    (R10)(R11*8), R11     \
	MOVBLZX (SI)(R11*1), SI       \
	SUBL    SI, AX                \
	SHLQ    $const_bucketLog, CX  \
	MOVL    $64, SI               \
	SUBL    (ring_coder+coder_w)(DI), SI \
	SHRXQ   SI, CX, CX            \
	ORQ     $1, CX                \
	SHLXQ   R13, R10, R10         \
	ADDQ    R9, R10

// LINE is mem.Lines.At. It takes the ring in DI and the number of a line in R10, and leaves
// where the line is in DX. It uses BX, SI and R13.
#define LINE(none) \
	MOVQ  R10, SI                 \
	ORQ   $1023, SI               \
	BSRQ  SI, SI                  \
	SUBL  $6, SI                  \
	SHRXQ SI, R10, BX             \
	LEAL  -3(SI), R13             \
	SHLL  $6, R13                 \
	ADDQ  BX, R13                 \
	MOVQ  ring_directory(DI), DX  \
	CMPQ  R13, 8(DX)              \
	JAE   none                    \
	MOVQ  (DX), DX                \
	MOVQ  (DX)(R13*8), DX         \
	TESTQ DX, DX                  \
	JEQ   none                    \
	BZHIQ SI, R10, R13            \
	SHLQ  $6, R13                 \
	ADDQ  R13, DX

// SEQUENCE leaves where the number of changes of line R10 is in R9, and the number in R11.
#define SEQUENCE \
	MOVQ ring_seqs(DI), R9        \
	MOVQ 8(R9), R11               \
	MOVQ (R9), R9                 \
	DECQ R11                      \
	ANDQ R10, R11                 \
	LEAQ (R9)(R11*4), R9          \
	MOVL (R9), R11

// ANSWER looks at the line in DX. It takes what LOCATE, SEQUENCE and LINE leave, the state in
// R12 and the ring in DI and X6, and jumps to done with the answer in BX, or goes on behind
// it where it cannot tell. It uses all registers but R12 and X6.
//
// The bucket is in this line or in the next of the group. The map of buckets is looked for
// in the first two words of the line. Zeros end buckets; the bit before the map stands for
// the end of bucket -1. The ones of a bucket are its slots, behind as many as there are ones
// before it. Four slots from there on are compared at once, in 16 bits each, the first in the
// highest: the highest bits become clear where slots are 0, and where they fit. Of these the
// first ones are of the bucket. At last nothing must have changed meanwhile, and what has
// left the ring is among the extras.
#define ANSWER(here, absent, none, behind, unknown, done) \
	MOVQ R9, X4                   \
	MOVQ R11, X5                  \
	MOVQ (ring_coder+coder_w)(DI), R8 \
	MOVQ (DX), SI                 \
	MOVL SI, BX                   \
	ANDL $const_maxIn, BX         \
	ADDL BX, AX                   \
	MOVL SI, BX                   \
	SHRL $9, BX                   \
	ANDL $const_maxHeld, BX       \
	CMPL AX, BX                   \
	JGE  behind                   \
here:                          \
	NOTQ    SI                    \
	ANDQ    $-65536, SI           \
	ORQ     $0x8000, SI           \
	MOVQ    8(DX), R10            \
	NOTQ    R10                   \
	POPCNTQ SI, R13               \
	XORL    BX, BX                \
	MOVQ    AX, DI                \
	SUBQ    R13, DI               \
	MOVL    $64, R13              \
	CMOVQCC R10, SI               \
	CMOVQCC R13, BX               \
	CMOVQCS AX, DI                \
	POPCNTQ SI, R13               \
	CMPQ    DI, R13               \
	JAE     unknown               \
	MOVL    $1, R13               \
	SHLXQ   DI, R13, R13          \
	PDEPQ   SI, R13, R13          \
	TZCNTQ  R13, R13              \
	LEAQ    1(R13)(BX*1), R13     \
	LEAQ   -12(R13), R10          \
	SUBQ   AX, R10                \
	MOVQ   R13, SI                \
	SHRQ   $3, SI                 \
	MOVQ   (DX)(SI*1), SI         \
	ANDL   $7, R13                \
	SHRXQ  R13, SI, SI            \
	NOTQ   SI                     \
	TZCNTQ SI, BX                 \
	CMPQ   BX, $4                 \
	JA     unknown                \
	IMULQ R8, R10                 \
	MOVL  $512, R13               \
	SUBL  R10, R13                \
	ANDL  $511, R13               \
	MOVQ  CX, R10                 \
	MOVL  R13, CX                 \
	SHRL  $6, R13                 \
	MOVQ  (DX)(R13*8), AX         \
	INCL  R13                     \
	ANDL  $7, R13                 \
	MOVQ  (DX)(R13*8), SI         \
	SHRQ  CX, SI, AX              \
	MOVQ  $-1, SI                 \
	MOVQ  $0x0001000100010001, R13 \
	MOVQ  $0x8000800080008000, DI \
	BZHIQ R8, SI, R8              \
	IMULQ R13, R8                 \
	PDEPQ R8, AX, AX              \
	IMULQ R13, R10                \
	XORQ  AX, R10                 \
	MOVQ  AX, CX                  \
	ORQ   DI, CX                  \
	SUBQ  R13, CX                 \
	ANDNQ AX, CX, AX              \
	ADDQ  AX, AX                  \
	ORQ   DI, R10                 \
	SUBQ  AX, R10                 \
	SHLL  $4, BX                  \
	MOVL  $64, AX                 \
	SUBL  BX, AX                  \
	BZHIQ AX, SI, AX              \
	ANDNQ DI, AX, AX              \
	ANDNQ AX, CX, CX              \
	JNE   unknown                 \
	ANDNQ AX, R10, R10            \
	SETNE BX                      \
	TESTL $1, R11                 \
	JNE   unknown                 \
	CMPL  R11, (R9)               \
	JNE   unknown                 \
	MOVQ  X6, DI                  \
	CMPQ  R12, ring_state(DI)     \
	JNE   unknown                 \
	MOVQ  X4, R9                  \
	MOVQ  X5, R11                 \
	CMPL  R11, (R9)               \
	JNE   unknown                 \
	TESTB BX, BX                  \
	JEQ   absent                  \
	JMP   done                    \
absent:                        \
	MOVQ  ring_extras(DI), SI     \
	TESTQ SI, SI                  \
	JEQ   none                    \
	MOVQ  X7, AX                  \
	MOVQ  extras_shift(SI), CX    \
	SHRXQ CX, AX, AX              \
	MOVQ  AX, CX                  \
	SHRQ  $6, CX                  \
	MOVQ  extras_marks(SI), SI    \
	MOVQ  (SI)(CX*8), SI          \
	BTQ   AX, SI                  \
	JCS   unknown                 \
none:                          \
	XORL  BX, BX                  \
	JMP   done                    \
behind:                        \
	SUBL  BX, AX                  \
	MOVQ  X2, SI                  \
	MOVQ  X3, R13                 \
	INCL  SI                      \
	CMPL  SI, R13                 \
	JGE   unknown                 \
	MOVQ  X1, R13                 \
	MOVL  $1, SI                  \
	SHLXQ R13, SI, SI             \
	ADDQ  SI, R10                 \
	TESTL $1, R11                 \
	JNE   unknown                 \
	SEQUENCE                      \
	LINE(unknown)                 \
	MOVQ  (DX), SI                \
	MOVL  SI, BX                  \
	SHRL  $9, BX                  \
	ANDL  $const_maxHeld, BX      \
	CMPL  AX, BX                  \
	JLT   here

// func filterHas(f *Filter, k filter.Key) bool
TEXT ·filterHas(SB), NOSPLIT, $0-17
	MOVQ f+0(FP), DI
	MOVQ k+8(FP), DX
	MOVQ Filter_ring(DI), DI
	CMPB ring_kernel(DI), $0
	JEQ  unknown
	MOVQ DI, X6
	MOVQ ring_state(DI), R12
	LOCATE
	SEQUENCE
	LINE(unknown)
	ANSWER(here, absent, none, behind, unknown, done)

unknown:
	JMP ·filterLookup(SB)

done:
	MOVB BX, ret+16(FP)
	RET

// What is kept of a query in a batch.
#define pending_line 0
#define pending_suffix 8
#define pending_index 16
#define pending_sequence 24
#define pending_mixed 32
#define pending_before 40
#define pending_idx 44
#define pending_level 48
#define pending_row 52
#define pending_lines 56

// func ringHasBatch(r *ring, keys *filter.Key, n int, out *bool, room *[stride]pending) (unknown uint64)
//
// The first loop finds the lines and asks for them, the second one looks at them.
TEXT ·ringHasBatch(SB), NOSPLIT, $8-48
	MOVQ r+0(FP), DI
	MOVQ DI, X6
	MOVQ ring_state(DI), R12
	MOVQ $0, unknown+40(FP)
	MOVQ $0, i-8(SP)

first:
	MOVQ i-8(SP), SI
	CMPQ SI, n+16(FP)
	JGE  found
	MOVQ keys+8(FP), DX
	MOVQ (DX)(SI*8), DX
	LOCATE
	SEQUENCE
	LINE(lost)
	PREFETCHT0 (DX)

store:
	MOVQ room+32(FP), SI
	MOVQ i-8(SP), BX
	SHLQ $6, BX
	ADDQ BX, SI
	MOVQ DX, pending_line(SI)
	MOVL AX, pending_idx(SI)
	MOVQ CX, pending_suffix(SI)
	MOVQ R10, pending_index(SI)
	MOVQ R9, pending_sequence(SI)
	MOVL R11, pending_before(SI)
	MOVQ X7, pending_mixed(SI)
	MOVD X1, pending_level(SI)
	MOVD X2, pending_row(SI)
	MOVD X3, pending_lines(SI)
	INCQ i-8(SP)
	JMP  first

lost:
	XORL DX, DX
	JMP  store

found:
	MOVQ $0, i-8(SP)

second:
	MOVQ  i-8(SP), SI
	CMPQ  SI, n+16(FP)
	JGE   end
	SHLQ  $6, SI
	ADDQ  room+32(FP), SI
	MOVQ  pending_line(SI), DX
	TESTQ DX, DX
	JEQ   unknown
	MOVL  pending_idx(SI), AX
	MOVQ  pending_suffix(SI), CX
	MOVQ  pending_index(SI), R10
	MOVQ  pending_sequence(SI), R9
	MOVL  pending_before(SI), R11
	MOVQ  pending_mixed(SI), X7
	MOVD  pending_level(SI), X1
	MOVD  pending_row(SI), X2
	MOVD  pending_lines(SI), X3
	MOVQ  X6, DI
	ANSWER(here, absent, none, behind, unknown, done)

unknown:
	MOVQ i-8(SP), SI
	MOVQ unknown+40(FP), AX
	BTSQ SI, AX
	MOVQ AX, unknown+40(FP)
	INCQ i-8(SP)
	JMP  second

done:
	MOVQ i-8(SP), SI
	MOVQ out+24(FP), DI
	MOVB BX, (DI)(SI*1)
	INCQ i-8(SP)
	JMP  second

end:
	RET

// func ringPrefetch(r *ring, keys *filter.Key, n int)
TEXT ·ringPrefetch(SB), NOSPLIT, $8-24
	MOVQ r+0(FP), DI
	MOVQ ring_state(DI), R12

next:
	DECQ n+16(FP)
	JLT  done
	MOVQ keys+8(FP), DX
	ADDQ $8, keys+8(FP)
	MOVQ (DX), DX
	LOCATE
	LINE(next)
	PREFETCHT0 (DX)
	JMP  next

done:
	RET
