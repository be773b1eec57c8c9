package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/server"
	"github.com/everbloom-go/everbloom/server/transfer"
)

func newCluster(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "cluster",
		GroupID: groupServe,
		Short:   "Look at a cluster of servers",
		Long: `Look at servers that share their logs: everbloom serve with --member and
--peers, or with --nats. docs/cluster.md says how to run them.`,
		Example: `  everbloom cluster status
  everbloom cluster status redis://127.0.0.1:7001`,
	}
	cmd.AddCommand(newClusterStatus(e))
	return cmd
}

// clusterStatus shows nodes and partitions.
type clusterStatus struct {
	*env
	json bool
}

func newClusterStatus(e *env) *cobra.Command {
	s := &clusterStatus{env: e}
	cmd := &cobra.Command{
		Use:   "status [URL]",
		Short: "Show nodes, partitions, leaders and leases",
		Long: `Ask one server of a cluster about all of them: the leader of each partition, how
long its lease still lasts, and how many records a node has yet to apply. URL is
redis://[USER:PASSWORD@]HOST[:PORT], or rediss:// for TLS; by default
redis://127.0.0.1:6379.

Exit status: 0 if every partition has a leader and every node was heard lately,
1 if not, 2 if the server could not be asked.`,
		Example: `  everbloom cluster status
  everbloom cluster status redis://127.0.0.1:7001
  everbloom cluster status rediss://bob:secret@n1.example.org:6379 --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: verb(s.run),
	}
	cmd.Flags().BoolVar(&s.json, "json", false, "print JSON")
	return cmd
}

func (s *clusterStatus) run(ctx context.Context, args []string) error {
	address := "redis://127.0.0.1:6379"
	if len(args) > 0 {
		address = args[0]
	}
	text, err := transfer.Ask(ctx, address, "CLUSTER", "STATUS")
	if err != nil {
		return &failure{err}
	}
	var status server.ClusterStatus
	if err := json.Unmarshal(text, &status); err != nil {
		return &failure{fmt.Errorf("%s: not the status of a cluster: %w", address, err)}
	}
	if s.json {
		err = printJSON(s.stdout, status)
	} else {
		err = s.print(status)
	}
	if err == nil && len(status.Problems) > 0 {
		err = errNone
	}
	return err
}

// print shows tables of nodes and partitions.
func (s *clusterStatus) print(status server.ClusterStatus) error {
	t := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	// Flush reports what goes wrong.
	_, _ = fmt.Fprintln(t, "node\taddress\tversion\tleads\tbehind\tsets\tmemory\theard\t")
	for _, n := range status.Nodes {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t\n", n.Node, n.Address, n.Version, n.Leading(),
			quantity.Count(status.Behind(n)), quantity.Count(uint64(n.Sets())), quantity.Bytes(float64(n.Bytes())), ago(status.At.Sub(n.Heard)))
	}
	_, _ = fmt.Fprintln(t, "\t\t\t\t\t\t\t\t\npartition\tleader\tepoch\tlease\trecords\tsets\tmemory\tcopies\t")
	for _, p := range status.Partitions {
		leader, lease := p.Leader, p.Lease.Round(100*time.Millisecond).String()
		if !p.Leads {
			leader, lease = "none", "–"
		}
		_, _ = fmt.Fprintf(t, "%d\t%s\t%d\t%s\t%s\t%s\t%s\t%d\t\n", p.Number, leader, p.Epoch, lease,
			quantity.Count(p.Applied), quantity.Count(uint64(p.Sets)), quantity.Bytes(float64(p.Bytes)), p.Copies)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	last := "All partitions have a leader, and all nodes were heard lately."
	if len(status.Problems) > 0 {
		last = strings.Join(status.Problems, "\n")
	}
	_, err := fmt.Fprintf(s.stdout, "\n%s\n", last)
	return err
}

// ago says how long something is past.
func ago(d time.Duration) string {
	if d < time.Second {
		return "now"
	}
	return d.Round(time.Second).String() + " ago"
}
