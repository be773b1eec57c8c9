package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/everbloom-go/everbloom/internal/fault"
)

func TestTextLeavesOutThePackage(t *testing.T) {
	deep := fault.In("deep", "no room: %w", errors.ErrUnsupported)
	for _, c := range []struct {
		err        error
		full, text string
	}{
		{errors.New("plain"), "plain", "plain"},
		{deep, "deep: no room: unsupported operation", "no room: unsupported operation"},
		{fault.In("top", "%w", deep), "top: deep: no room: unsupported operation", "deep: no room: unsupported operation"},
		{&fault.Error{Package: "top", Err: deep}, "top: deep: no room: unsupported operation", "no room: unsupported operation"},
		{fault.Field("gate", "Users", "%d, at most 3", 4), "gate: Users: 4, at most 3", "Users: 4, at most 3"},
		{errors.Join(deep, errors.New("gate: x")), "deep: no room: unsupported operation\ngate: x", "no room: unsupported operation\ngate: x"},
		{fmt.Errorf("gate: %w: %w", deep, deep), "gate: deep: no room: unsupported operation: deep: no room: unsupported operation", "gate: deep: no room: unsupported operation: deep: no room: unsupported operation"},
		{fault.Unsupported("filter", "bloom", "delete"), "filter: kind bloom cannot delete", "kind bloom cannot delete"},
	} {
		if c.err.Error() != c.full || fault.Text(c.err) != c.text {
			t.Errorf("%q and %q, want %q and %q", c.err, fault.Text(c.err), c.full, c.text)
		}
	}
}

func TestFromFindsThePackage(t *testing.T) {
	inner := fault.In("mem", "block of 3 GiB")
	err := fmt.Errorf("all: %w", fault.In("everbloom", "shard 1: %w", inner))
	if got := fault.From(err, "mem"); !errors.Is(got, inner) {
		t.Errorf("found %v", got)
	}
	if got := fault.From(err, "gate"); !errors.Is(got, err) {
		t.Errorf("found %v without one", got)
	}
	if !errors.Is(fault.Unsupported("filter", "bloom", "delete"), errors.ErrUnsupported) {
		t.Error("what a kind cannot do does not match")
	}
}
