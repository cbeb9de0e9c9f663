package wire

// The names of the fleet's registry at its server: one workflow, which has the lists of keys.
const (
	RegistryWorkflow = "fleet" // the type, and the id: there is one
	RegistryID       = "fleet"
	AuthorityQueue   = "authority" // where the key of the authority is

	TrustQuery   = "trust"
	MembersQuery = "members"
	InviteUpdate = "invite"
	JoinUpdate   = "join"
	ClockUpdate  = "clock"
	TellUpdate   = "tell" // to the workflow of a task

	AdmitActivity  = "admit"
	SpreadActivity = "spread"
)
