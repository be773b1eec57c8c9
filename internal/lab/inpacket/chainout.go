package inpacket

import (
	"fmt"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// chainPlot has the colours of the other experiments: like contenders look alike.
func chainPlot(name, title string, list []server, lengths []int, all [][][]service, contenders ...int) lab.Plot {
	p := lab.Plot{
		Name: name, Title: title,
		X: lab.Axis{Label: "services in the chain"}, Y: lab.Axis{Label: "share of packets", Percent: true, Max: 1.02},
	}
	for _, c := range contenders {
		bare, _ := strings.CutSuffix(list[c].name, fromTheTop)
		like := slices.IndexFunc(list, func(s server) bool { return s.name == bare })
		series := lab.Series{Name: bare, Style: lab.LinePoints, Color: like + 1}
		for i, length := range lengths {
			packets := all[i][c]
			series.Points = append(series.Points, lab.Share(float64(length), count(packets, served), len(packets)))
		}
		p.Series = append(p.Series, series)
	}
	return p
}

func chainTable(list []server, lengths []int, all [][][]service) lab.Table {
	t := lab.Table{
		Name: "chains", Title: "Packets with a chain of services",
		Columns: []string{"services", "headers", "served right", "some service twice", "some wrong service", "some service skipped", "ended by the TTL", "wrong visits per packet"},
	}
	for i, length := range lengths {
		for c, s := range list {
			packets := all[i][c]
			row := []any{length, s.name}
			for _, what := range []func(service) bool{served, repeated, misled, skipped, ended} {
				row = append(row, lab.Percent(float64(count(packets, what))/float64(len(packets))))
			}
			t.Add(append(row, lab.Figure(packets, func(s service) float64 { return float64(s.Wrong) }))...)
		}
	}
	return t
}

// served and its like are what can be said of a packet.
func served(s service) bool   { return s.Done() }
func repeated(s service) bool { return s.Twice > 0 }
func misled(s service) bool   { return s.Wrong > 0 }
func skipped(s service) bool  { return s.Skipped > 0 }
func ended(s service) bool    { return s.Expired }

func count(packets []service, what func(service) bool) (n int) {
	for _, p := range packets {
		n += oneIf(what(p))
	}
	return n
}

// of returns the packets of one server with chains of all lengths.
func of(all [][][]service, server int) (packets []service) {
	for _, length := range all {
		packets = append(packets, length[server]...)
	}
	return packets
}

func chainChecks(lengths []int, all [][][]service) []lab.Check {
	plain, deleted, chosen := of(all, servesPlain), of(all, servesDeleting), of(all, servesDeletingChosen)
	again, services := 0, 0
	for i, length := range lengths {
		for _, s := range all[i][servesPlain] {
			again += s.Twice
			services += length
		}
	}
	how := "all packets"
	share := func(packets []service, what func(service) bool) string {
		return fmt.Sprintf("%d of %d packets", count(packets, what), len(packets))
	}
	return []lab.Check{
		wrongCheck(plain),
		lab.Holds("services visited again without deletion", "a switch that nothing is removed for sends every packet through its whole chain each time",
			fmt.Sprintf("%d of %d", again, services), again == services, how),
		less("services visited again with deletion", "removed after leaving the middlebox (Sec. V)", deleted, plain,
			func(s service) float64 { return float64(s.Twice) }),
		lab.Holds("only what is pinned is visited again", "bits outside of collisions can be removed (Sec. III)",
			share(deleted, againUnpinned), count(deleted, againUnpinned) == 0, how),
		lab.Holds("services skipped with deletion", "without introducing false negatives (Sec. VI)",
			share(deleted, skipped), count(deleted, skipped) == 0, how).
			Because("a service that is found by mistake is visited and then deleted, though it was never inserted: that takes bits of others. The paper's promise is for elements of the set. A tree is safe, because each copy goes over one link and only that copy forgets it; a chain has one copy"),
		lab.Show("services skipped, chosen headers", share(chosen, skipped)),
		lab.Show("a switch that knows no ports", fmt.Sprintf("packets not served right: %s without deletion, %s with it, %s with chosen headers",
			share(of(all, topPlain), unserved), share(of(all, topDeleting), unserved), share(of(all, topDeletingChosen), unserved))),
	}
}

func unserved(s service) bool { return !s.Done() }

// againUnpinned says that a service was visited again that could be deleted.
func againUnpinned(s service) bool { return s.Twice > s.Pinned }

// wrongCheck compares wrong visits with what the fill predicts.
func wrongCheck(packets []service) lab.Check {
	wrong := lab.Figure(packets, func(s service) float64 { return float64(s.Wrong) })
	wrong.Deviation = lab.Figure(packets, func(s service) float64 { return float64(s.Wrong) - s.expected }).Deviation
	return lab.Predicted("wrong visits per packet, plain", "passes times other services times fill^k",
		lab.Figure(packets, func(s service) float64 { return s.expected }).Mean, wrong)
}
