//go:build linux && !purego

package mem

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// TestHugePagesAreAskedForInside reads the flags that the kernel keeps for the
// addresses of a block.
func TestHugePagesAreAskedForInside(t *testing.T) {
	words, err := Words(16 << 20 / wordBytes)
	if err != nil {
		t.Fatal(err)
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(words)))
	middle := (start/hugePage + 2) * hugePage
	flags, err := smaps(middle, "VmFlags")
	if err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skipf("this kernel has no huge pages: %v", err)
	}
	if !strings.Contains(flags+" ", " hg ") {
		t.Errorf("flags of the block: %q, want hg among them", flags)
	}
	runtime.KeepAlive(words)
}

// TestAdviceOnAnyPlaceIsHarmless covers blocks that have no whole page inside, or begin
// on one.
func TestAdviceOnAnyPlaceIsHarmless(t *testing.T) {
	words := takeAligned(4 * hugePage / wordBytes)
	for _, n := range []int{0, 1, hugePage/wordBytes - 1, hugePage / wordBytes, hugePage/wordBytes + 1, 2 * hugePage / wordBytes, len(words) - 512} {
		for _, skip := range []int{0, 8, 512} {
			words[skip] = 7
			adviseHuge(words[skip : skip+n])
			if words[skip] != 7 {
				t.Fatalf("advice on %d words from %d lost data", n, skip)
			}
		}
	}
}

// smaps returns the value of a field of the mapping that holds an address, as
// the kernel counts and describes it.
func smaps(addr uintptr, field string) (string, error) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return "", err
	}
	defer f.Close()
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from <= addr && addr < to
		}
		if value, ok := strings.CutPrefix(lines.Text(), field+":"); ok && inside {
			return value, nil
		}
	}
	return "", fmt.Errorf("no mapping in smaps holds %#x", addr)
}

// TestRecycledPagesAreJoined touches small pages before it asks for huge ones, as the
// runtime's recycled memory was. Kernels that cannot join them say so to a first
// attempt.
func TestRecycledPagesAreJoined(t *testing.T) {
	const pages = 8
	bytes, err := syscall.Mmap(-1, 0, (pages+1)*hugePage, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = syscall.Munmap(bytes) }()
	_ = syscall.Madvise(bytes, syscall.MADV_NOHUGEPAGE)
	for i := 0; i < len(bytes); i += 4096 {
		bytes[i] = 1
	}
	_ = syscall.Madvise(bytes, syscall.MADV_HUGEPAGE)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(bytes))) % hugePage
	if err := syscall.Madvise(bytes[skip:skip+hugePage], collapse); err != nil {
		t.Skipf("this kernel does not join pages: %v", err)
	}
	inside := bytes[skip : skip+(pages-1)*hugePage]
	adviseHuge(unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes)/wordBytes))
	if got := hugeBytes(t, inside); got < len(inside) {
		// A kernel that is short of huge pages refuses the test's own request, too.
		if err := syscall.Madvise(inside, collapse); err != nil {
			t.Skipf("this kernel has no huge pages left: %v", err)
		}
		t.Errorf("%d of %d bytes in huge pages after the advice", got, len(inside))
	}
	if bytes[4096] != 1 {
		t.Error("joining pages lost their content")
	}
}

// hugeBytes returns how much of a mapping is in huge pages.
func hugeBytes(t *testing.T, mapping []byte) (n int) {
	t.Helper()
	text, err := smaps(uintptr(unsafe.Pointer(unsafe.SliceData(mapping))), "AnonHugePages")
	if err != nil {
		t.Skip(err)
	}
	if _, err := fmt.Sscanf(text, "%d kB", &n); err != nil {
		t.Skip(err)
	}
	return n << 10
}
