// Package expect works out, from the truth file of an emulated network, what a collector has to answer: the same types
// that the API serves, filled from what the network knows. It shares no code with package analyze; it does with the
// truth what docs/explanation/design.md says that is done with reports.
//
//	t, err := expect.Read(file)             what happened
//	want := t.Answers(expect.Options{...})  what a collector can know of it
//	expect.Compare(want, got)               where the two differ
//
// What a collector cannot know, or not exactly, is left out by a Rule with a name and a reason, and by nothing else:
// there is no tolerance.
//
// To compare something new: 1. its value in the answers of Collector, from the truth alone, 2. its fact in facts.go, 3.
// a row in TestPlantedDifferences.
package expect
