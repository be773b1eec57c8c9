package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/everbloom-go/everbloom/internal/gate/keeper"
)

// keepFlags is what the flags say about bans and the state.
type keepFlags struct {
	keeper.Config
	configFile string
}

func (k *keepFlags) keepFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.DurationVar(&k.BanFor, "ban-for", 0, "how long a ban lasts, such as 10m (default: for ever)")
	f.Float64Var(&k.Growth, "ban-growth", 1, "how much longer each further ban of a source lasts, `FACTOR`")
	f.DurationVar(&k.BanMax, "ban-max", 0, "the longest that a ban lasts (default: no limit)")
	f.StringVar(&k.State, "state", "", "`FILE` that keeps bans, strikes and chains: read at the start, written every minute and at the end")
	f.BoolVar(&k.Sync, "sync", false, "with --state: have every strike and ban on disk before it is told")
	f.StringVar(&k.configFile, "config", "", "`FILE` with flags, one per line as name = value; those of the command line come first")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := readConfig(cmd, k.configFile); err != nil {
			return &failure{err}
		}
		if k.Sync && k.State == "" {
			return errors.New("--sync: of no effect without --state")
		}
		return nil
	}
}

// kept reports whether bans end or a state is kept.
func (k *keepFlags) kept() bool { return k.BanFor > 0 || k.State != "" }

// readConfig sets the flags that a file names, unless the command line has.
func readConfig(cmd *cobra.Command, path string) error {
	if path == "" {
		return nil
	}
	typed := map[string]bool{}
	cmd.Flags().Visit(func(f *pflag.Flag) { typed[f.Name] = true })
	return fromFile(path, func(r io.Reader) error {
		lines := bufio.NewScanner(r)
		for n := 1; lines.Scan(); n++ {
			text := strings.TrimSpace(lines.Text())
			if text == "" || text[0] == '#' {
				continue
			}
			name, value, ok := strings.Cut(text, "=")
			name, value = strings.TrimSpace(name), strings.TrimSpace(value)
			switch flag := cmd.Flags().Lookup(name); {
			case !ok:
				return fmt.Errorf("line %d: must be name = value", n)
			case flag == nil || name == "config" || name == "help":
				return fmt.Errorf("line %d: no flag --%s: see %s --help", n, name, cmd.CommandPath())
			case typed[name]:
				continue
			}
			if err := cmd.Flags().Set(name, value); err != nil {
				return fmt.Errorf("line %d: %w", n, flagError(cmd, err))
			}
		}
		return lines.Err()
	})
}
