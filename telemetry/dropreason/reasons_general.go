package dropreason

// The number of a reason is its place in the list of its group: new ones go to the end, and none is taken out.

var general = []Reason{
	{
		ID: "unknown", Name: "No reason given", Severity: Warning,
		Meaning: "The device reported a drop and did not say why.",
		Action:  "Read the drop counters of the node and port in the report at the device itself. If all of its drops come without a reason, its INT program does not fill the field in: ask its vendor.",
	},
	{
		ID: "unmapped", Name: "Reason without a meaning here", Severity: Warning,
		Meaning: "The device gave a number or a name that is not in the table of its source.",
		Action:  "Give the source the dialect of the program that sends it, so that its numbers get a meaning; until then look the number up in the vendor's list.",
	},
}
