package resp

// Limits bounds what a peer may send.
type Limits struct {
	Args    int // of one command
	Bulk    int // bytes of one argument
	Command int // bytes of one command
	Strict  bool
}

// Standard is what peers may send that may do something.
func Standard() Limits { return Limits{Args: 1 << 20, Bulk: 512 << 20, Command: 1 << 30} }

// Unauthenticated is what peers may send that have yet to say which user they are.
func Unauthenticated() Limits {
	return Limits{Args: 10, Bulk: 16 << 10, Command: 1 << 20, Strict: true}
}

// maxLine is how long a line may be: a count, or a command that is no array.
const maxLine = 64 << 10

// A ProtocolError is about bytes that are not the protocol.
type ProtocolError string

// Error returns the text that Redis answers.
func (e ProtocolError) Error() string { return "Protocol error: " + string(e) }

// The errors that name no byte of the stream.
const (
	errCount       ProtocolError = "invalid multibulk length"
	errCountStrict ProtocolError = "unauthenticated multibulk length"
	errCountLine   ProtocolError = "too big mbulk count string"
	errBulk        ProtocolError = "invalid bulk length"
	errBulkStrict  ProtocolError = "unauthenticated bulk length"
	errBulkLine    ProtocolError = "too big bulk count string"
	errCommand     ProtocolError = "too big command"
	errInline      ProtocolError = "too big inline request"
	errQuotes      ProtocolError = "unbalanced quotes in request"
)

// tooMany and tooLong are the errors for what exceeds the limits.

func (l Limits) tooMany() ProtocolError {
	if l.Strict {
		return errCountStrict
	}
	return errCount
}

func (l Limits) tooLong() ProtocolError {
	if l.Strict {
		return errBulkStrict
	}
	return errBulk
}
