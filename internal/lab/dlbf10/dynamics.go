package dlbf10

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

// setting is a density and a size of regions. They are varied one at a time.
type setting struct{ density, ratio int }

func (s setting) String() string { return fmt.Sprintf("m/n = %d, m/r = %d", s.density, s.ratio) }

var settings = []setting{{11, 10}, {16, 10}, {32, 10}, {16, 20}, {16, 2}}

var dynamics = lab.Experiment{
	ID:       "dlbf10/dynamics",
	Title:    "Insertions and deletions without end",
	Question: "How long does a deletable filter stay deletable while keys come and go?",
	Says: "Sec. III: with frequent deletions and insertions \"orphaned bits may fill the filter until collisions have happened in every region, hampering future deletions and increasing the residual fpr\". " +
		"Sec. V leaves open \"the practical limits if we keep doing insertions and deletions\".",
	Params: lab.Params{lab.Int("keys", 200).Full(2_000), lab.Int("hashes", 5), lab.Floats("turnovers", 0, 0.5, 1, 1.5, 2, 4).Full(0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16), lab.Int("trials", 20).Full(100)},
	Run:    runDynamics,
	Plots: []lab.View{{
		Name: "life", Title: "Keys that can be deleted", X: "turnovers", By: "setting", XAxis: lab.Axis{Label: "turnovers: times that all keys were replaced"}, Y: deletableAxis, Curves: []lab.Curve{{Measured: "deletable"}},
	}},
	Claims: []lab.Claim{
		{Name: "clean regions", Printed: "orphaned bits may fill the filter until collisions have happened in every region", Where: "Sec. III", Of: lab.Of("clean regions"), Is: lab.Falls("turnovers")},
		{Name: "deletable keys", Printed: "hampering future deletions", Where: "Sec. III", Of: lab.Of("deletable"), Is: lab.Falls("turnovers")},
		{Name: "rate", Printed: "increasing the residual fpr", Where: "Sec. III", Of: lab.Of("rate"), Is: lab.Rises("turnovers")},
		{Kind: lab.Question, Name: "keys that can be deleted after one and a half turnovers", Printed: "the practical limits if we keep doing insertions and deletions", Where: "Sec. V", Of: lab.Of("deletable", "turnovers", 1.5, "setting", "m/n = 16, m/r = 10"), Is: lab.Shows(), Show: []lab.Pick{lab.Of("deletable", "turnovers", 1.5)}},
		noneLost,
	},
}

func runDynamics(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, turnovers := e.Int("keys"), e.Floats("turnovers")
	return lab.Find(ctx, e, lab.Sweep{
		Name: "turnovers", Title: "Filters whose keys are replaced", Dims: []lab.Dim{lab.AmongAll("setting", settings, setting.String)}, Trace: lab.Along("turnovers", turnovers...), Trials: e.Int("trials"),
		Follow: func(at lab.At, r *rand.Rand) (looks []lab.Figures, err error) {
			s := settings[at.Int("setting")]
			f, err := deletable.Build(sized(n, e.Int("hashes"), s.density, s.ratio))
			if err != nil {
				return nil, err
			}
			keys := lab.RandomKeys(r, n)
			err = walk.Replace(f, keys, turnovers, r, func([]filter.Key) error {
				o, err := look(f, keys)
				looks = append(looks, o)
				return err
			})
			return looks, err
		},
		Metrics: []lab.Metric{
			{Name: "deletable", Unit: lab.InPercent, Asked: lab.Each(n)}, {Name: "false negatives"}, {Name: "clean regions", Unit: lab.InPercent}, {Name: "rate", Unit: lab.InPercent},
		},
		Notes: []string{"Each step deletes a random key and adds a new one. A key that cannot be deleted is gone for its owner, but is still answered with yes."},
	})
}

// look examines a filter and leaves it as it is. Deleting one key never changes whether
// another can be deleted, so a copy from which all are deleted tells.
func look(f *deletable.Filter, keys []filter.Key) (lab.Figures, error) {
	lost := float64(len(keys) - lab.CountYes(f, keys))
	twin, err := deletable.FromRaw(f.Shape(), f.AppendRaw(nil))
	if err != nil {
		return nil, err
	}
	o := deleteAll(twin, keys)
	o["false negatives"], o["rate"] = o["false negatives"]+lost, f.Info().FPR
	return o, nil
}
