package gate

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestWordsForEverything(t *testing.T) {
	for got, want := range map[fmt.Stringer]string{
		Pass: "pass", Drop: "drop", Reject: "reject", Ban: "ban", Action(9): "Action(9)",
		Clean: "clean", Whitelisted: "whitelisted", Banned: "banned", Listed: "listed", OverLimit: "over-limit", Struck: "struck", Reason(9): "Reason(9)",
		None: "none", Good: "good", Bad: "bad", Standing(9): "Standing(9)",
	} {
		if got.String() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for action := range Action(actions) {
		if (Verdict{Action: action}).Passed() != (action == Pass) {
			t.Errorf("%v: passed is wrong", action)
		}
	}
	text, err := json.Marshal([]any{Ban, Listed, Answer{Standing: Bad, Both: true}})
	if want := `["ban","listed",{"standing":"bad","both":true}]`; err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
}
