package gate

import "fmt"

// A Verdict is the decision about one packet.
type Verdict struct {
	Action  Action
	Reason  Reason
	Strikes uint8 // of the source after this packet, if it got one
	Pattern int32 // the number of the pattern that the packet completed, or -1
}

// Passed reports whether the packet goes through.
func (v Verdict) Passed() bool { return v.Action == Pass }

// Action is what happens to a packet.
type Action uint8

// The actions, from the mildest to the gravest.
const (
	Pass   Action = iota // it goes through
	Drop                 // it completed a pattern and is held back; its source is not banned
	Reject               // its source is banned or listed
	Ban                  // it was the last strike; it is held back, and so are all that follow

	actions = iota
)

var actionNames = [actions]string{"pass", "drop", "reject", "ban"}

// String returns "pass", "drop", "reject" or "ban".
func (a Action) String() string { return name(actionNames[:], uint8(a), "Action") }

// MarshalText makes JSON show the word instead of the number.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// Reason is the cause of a verdict.
type Reason uint8

// The reasons.
const (
	Clean       Reason = iota // nothing was found
	Whitelisted               // the source is on the white list
	Banned                    // the source is in the banned set
	Listed                    // a prefix of the black list covers the source
	OverLimit                 // the source is in the table of bans that the banned set has no room for
	Struck                    // the packet completed a pattern

	reasons = iota
)

var reasonNames = [reasons]string{"clean", "whitelisted", "banned", "listed", "over-limit", "struck"}

// String returns the word for the reason, such as "banned".
func (r Reason) String() string { return name(reasonNames[:], uint8(r), "Reason") }

// MarshalText makes JSON show the word instead of the number.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Standing is what a gate knows about an address.
type Standing uint8

// The standings.
const (
	None Standing = iota // it is unknown
	Good                 // it is tracked, or on the white list
	Bad                  // it is banned or listed: its packets are rejected

	standings = iota
)

var standingNames = [standings]string{"none", "good", "bad"}

// String returns "none", "good" or "bad".
func (s Standing) String() string { return name(standingNames[:], uint8(s), "Standing") }

// MarshalText makes JSON show the word instead of the number.
func (s Standing) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// An Answer is the result of a query.
type Answer struct {
	Standing Standing `json:"standing"`

	// Both says that both sets claim the address: it was banned and could not be
	// deleted from the tracked set, or one of them has a false positive.
	Both bool `json:"both"`
}

func name(names []string, i uint8, kind string) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}
