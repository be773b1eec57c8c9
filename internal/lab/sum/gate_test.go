package sum

import (
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/gate"
)

// A gate with little memory errs, one that confirms does not.
func TestCasesAreJudged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	tight, err := judge(gate.Config{Kind: "deletable", BitsPerUser: 10, Confirm: gate.ConfirmNever}, 10_000, 3, r)
	if err != nil || allRight(tight) || tight.WronglyRejected() == 0 || tight.WronglyPassed()+wrongBans(tight) > 0 {
		t.Errorf("little memory: %+v, %v", tight, err)
	}
	sure, err := judge(gate.Config{Kind: "evergreen"}, 1_000, 20, r)
	if err != nil || !allRight(sure) || sure.WronglyRejected() != 0 {
		t.Errorf("confirmed: %+v, %v", sure, err)
	}
	sure.Queries[2][1]++ // a bad user is called good
	if allRight(sure) {
		t.Error("a wrong answer is all right")
	}
}
