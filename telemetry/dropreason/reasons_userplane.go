package dropreason

var userPlane = []Reason{
	{
		ID: "session_missing", Name: "No session", Severity: Critical,
		Meaning: "The user plane function has no session for the subscriber's address or tunnel.",
		Action:  "Compare the sessions of the session management function with those on the node; if it lost them, have them installed again.",
	},
	{
		ID: "session_drop", Name: "Session says drop", Severity: Info,
		Meaning: "The session is installed with the action drop.",
		Action:  "The control plane wants it: look there, mostly an idle or barred subscriber.",
	},
	{
		ID: "session_buffer_drop", Name: "Session says drop what was buffered", Severity: Info,
		Meaning: "Packets that waited for paging are dropped.",
		Action:  "The subscriber did not answer the paging; if it is many of them, look at the radio network.",
	},
	{
		ID: "termination_missing", Name: "No termination", Severity: Critical,
		Meaning: "There is a session, but no rule for this kind of traffic in it.",
		Action:  "Compare the rules of the session with those of one that works; the installation stopped half way.",
	},
	{
		ID: "termination_drop", Name: "Termination says drop", Severity: Info,
		Meaning: "The rule for this kind of traffic says drop.",
		Action:  "The control plane wants it: look at the subscriber's policy, gate or quota.",
	},
	{
		ID: "recirculation_denied", Name: "Traffic between subscribers denied", Severity: Info,
		Meaning: "The uplink packet is for another subscriber, and that is not allowed.",
		Action:  "If subscribers of one slice should reach each other, allow recirculation for it.",
	},
}
