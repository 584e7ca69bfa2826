package cli

import (
	"bytes"
	"context"
	"fmt"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/conf"
)

// isEncoded reports whether answers are printed as the server encodes them.
func (c *queryCommand[L, T]) isEncoded() bool { return c.output != "table" && c.output != "wide" }

// onceEncoded asks for an answer in a format, and prints it as it came.
func (c *queryCommand[L, T]) onceEncoded(ctx context.Context) error {
	list, q := c.name, c.query
	switch {
	case c.rows == "":
	case isDocument(c.output):
		q.Limit = 0 // it has no pages
	default:
		list = c.rows
	}
	format := c.output
	if format == "yaml" {
		format = "json"
	}
	body, more, err := c.client.Encoded(ctx, list, format, q)
	if err != nil {
		return c.explain(err)
	}
	text := body
	if c.output == "yaml" {
		if text, err = conf.FromJSON(body); err != nil {
			return err
		}
	}
	if c.output == "csv" && (c.again || c.noHeaders) {
		_, text, _ = bytes.Cut(text, []byte{'\n'}) // its header was printed
	}
	if c.output == "csv" && c.view.terminal {
		text = bytes.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return printableRune(r)
		}, text)
	}
	if _, err := c.stdout.Write(text); err != nil {
		return command.Quiet(err)
	}
	c.again = true
	if c.isPast() {
		lines := bytes.Count(body, []byte{'\n'})
		switch {
		case c.output == "csv" && lines == 1 || c.output == "ndjson" && lines == 0:
			fmt.Fprintf(c.stderr, "no %s match\n", c.name)
		case more:
			fmt.Fprintf(c.stderr, "listed the first %d records; --limit lists more\n", c.query.Limit)
		}
		return nil
	}
	q.Limit = 1
	answer, err := c.get(ctx, c.client, q) // what encodings of items do not have
	if err != nil {
		return c.explain(err)
	}
	head, _ := c.open(answer)
	listed := min(head.Total, c.query.Limit)
	if more {
		listed = c.query.Limit
	}
	c.remark(ctx, &head, listed, more)
	return nil
}
