package dropreason

var policies = []Reason{
	{
		ID: "meter_exceeded", Name: "Over the rate of a meter", Severity: Warning,
		Meaning: "A policer or meter found the flow above its rate.",
		Action:  "Find the flow and its contract. If it is within its rate over a second, the burst size of the meter is too small.",
	},
	{
		ID: "traffic_control_broken", Name: "Traffic control misconfigured", Severity: Warning,
		Meaning: "A tc filter points to a chain that is not there, or classifies in circles.",
		Action:  "Run `tc filter show` and `tc chain show` on the host; a program that manages the rules has stopped half way.",
	},
	{
		ID: "telemetry_discard", Name: "Discarded by telemetry", Severity: Info,
		Meaning: "The packet is a probe or a copy that the telemetry source marked with D or C: no host must see it.",
		Action:  "Normal at a sink. If packets of users carry the mark, look at the source that they pass first.",
	},
}
