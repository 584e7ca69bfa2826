package types

// NewMitigation asks for the mitigation of an attack.
type NewMitigation struct {
	By     string `json:"by,omitempty"`      // node, flowspec, rtbh or webhook; missing: that of the configuration
	For    string `json:"for,omitempty"`     // how long rules hold, such as 1h; missing: that of the configuration
	DryRun bool   `json:"dry_run,omitempty"` // nothing is sent: the answer has the rules
	Broad  bool   `json:"broad,omitempty"`   // rules that name no source are right, and drop what others send too
}
