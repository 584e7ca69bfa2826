package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/scenarios"
)

// scenario reads the scenario of the command line, with the changes that flags make to it. File is its name in errors.
func (c *fabricCommand) scenario(name string) (s *scenario.Scenario, file string, err error) {
	file, text, err := c.scenarioText(name)
	if err != nil {
		return nil, file, err
	}
	if s, err = scenario.Parse(file, text); err != nil {
		return nil, file, firstOf(err)
	}
	if c.seed > 0 {
		s.Seed = scenario.Count(c.seed)
	}
	if c.duration > 0 {
		s.Extend(scenario.Duration(c.duration))
	}
	return s, file, nil
}

// scenarioText finds a scenario: its name in errors, and the text. A name without a dot and a slash is first looked for
// among those that come with Waybill.
func (c *fabricCommand) scenarioText(name string) (file string, text []byte, err error) {
	if name == "-" {
		text, err = io.ReadAll(c.in)
		return "stdin", text, err
	}
	if !strings.ContainsAny(name, "./") {
		file = name + ".yaml"
		if text, err = scenarios.Files.ReadFile(file); err == nil {
			return file, text, nil
		}
	}
	text, err = os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf(
			"%s: no such file, and no scenario of this name; waybill fabric --list prints those that there are", name)
	}
	return name, text, err
}

// inFile puts the name of the file in front of an error about its section int.
func inFile(file string, err error) error {
	text := strings.TrimPrefix(firstOf(err).Error(), "int: ")
	if line, rule, ok := strings.Cut(strings.TrimPrefix(text, "line "), ": "); ok && strings.HasPrefix(text, "line ") {
		return command.Usage(fmt.Errorf("%s:%s: int: %s", file, line, rule))
	}
	return command.Usage(fmt.Errorf("%s: int: %s", file, text))
}

// firstOf returns the first of joined errors, and says how many more there are: an error is one line.
func firstOf(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) < 2 {
		return err
	}
	all := joined.Unwrap()
	return fmt.Errorf("%w (and %d more)", all[0], len(all)-1)
}

// listScenarios prints the scenarios that come with Waybill, each with the first sentence of its comment.
func listScenarios(w io.Writer) error {
	files, err := fs.Glob(scenarios.Files, "*.yaml")
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, file := range files {
		text, err := scenarios.Files.ReadFile(file)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s\n", strings.TrimSuffix(file, ".yaml"), firstSentence(string(text)))
	}
	return table.Flush()
}

// firstSentence returns the first sentence of the comment at the top of a scenario.
func firstSentence(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		comment, ok := strings.CutPrefix(line, "#")
		if !ok || strings.TrimSpace(comment) == "" {
			break
		}
		words = append(words, strings.Fields(comment)...)
	}
	sentence, _, _ := strings.Cut(strings.Join(words, " "), ". ")
	return strings.TrimSuffix(sentence, ".")
}
