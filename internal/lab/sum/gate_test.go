package sum

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// A gate with little memory errs, one that confirms does not, on addresses of its own
// and on given ones.
func TestCasesAreJudged(t *testing.T) {
	given := []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")}
	for _, addresses := range [][]netip.Addr{nil, given} {
		r := rand.New(rand.NewPCG(1, 1))
		tight, err := judge(gate.Config{Kind: "deletable", BitsPerUser: 10, Confirm: gate.ConfirmNever}, addresses, 10_000, 3, r)
		if err != nil || tight.right != 0 || tight.rejected == 0 || tight.passed+tight.bans > 0 {
			t.Errorf("little memory: %+v, %v", tight, err)
		}
		sure, err := judge(gate.Config{Kind: "evergreen"}, addresses, 1_000, 20, r)
		if err != nil || sure.right != 1 || sure.rejected != 0 {
			t.Errorf("confirmed: %+v, %v", sure, err)
		}
	}
	if _, _, err := listed(&lab.Env{Data: t.TempDir()}); err == nil {
		t.Error("a black list that is not there was read")
	}
}
