package timing

import (
	"testing"
	"time"
)

func TestTurnsTellContendersApart(t *testing.T) {
	var now time.Duration
	turns := NewTurns(func() time.Duration { return now })
	var order []int
	for range 3 {
		turns.Stride("work", []string{"slow", "fast"}, 100, func(i int) {
			order = append(order, i)
			now += []time.Duration{3 * time.Microsecond, time.Microsecond}[i]
		})
	}
	if slow, fast := turns.Nanos(Lap{"slow", "work"}), turns.Nanos(Lap{"fast", "work"}); slow != 30 || fast != 10 {
		t.Errorf("%v and %v ns", slow, fast)
	}
	if order[0] == order[2] {
		t.Errorf("the same begins every time: %v", order)
	}
	r := Rounds{}
	r.Add(turns)
	if r.Nanos("slow", "work") != 30 || r.Nanos("fast", "work") != 10 || r.Speedup("fast", "slow", "work") != 3 {
		t.Errorf("%v", r)
	}
	if turns.Nanos(Lap{"absent", "work"}) != 0 || r.Nanos("absent", "work") != 0 {
		t.Error("a contender without turns took time")
	}
}

// One round in which the machine was busy does not change the median of the ratios.
func TestSpeedupIsThatOfTheMedianRound(t *testing.T) {
	r := Rounds{{"a", "w"}: {10, 100, 10}, {"b", "w"}: {20, 20, 30}}
	if got := r.Speedup("a", "b", "w"); got != 2 {
		t.Errorf("%v", got)
	}
}
