package wire

// BirthFile is the name under which the files of a request of the method adopt have the birth, with its signature.
const BirthFile = "birth"

// Newcomer is what a host says of a task that was created there without the fleet: before a person has signed that it
// is taken in, a birth without a signature; afterwards the signed birth, and the report that the server needs.
type Newcomer struct {
	Birth  Birth   `json:"birth"`
	Report *Report `json:"report,omitempty"`
}

// Kind is the name and the version of the message.
func (Newcomer) Kind() (string, int) { return "newcomer", 1 }

// Check refuses what is too large.
func (n Newcomer) Check() error {
	if n.Report != nil {
		if err := n.Report.Check(); err != nil {
			return err
		}
	}
	if n.Birth.Ask.Signature == "" {
		n.Birth.Ask.Request.Key = "unsigned" // it has no request yet
	}
	return n.Birth.Check()
}
