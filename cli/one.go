package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

// printOne returns what prints the item that an argument names: as the API has it, or as draw writes it.
func printOne[L, T, A any](draw func(io.Writer, *view, *A) error) func(
	*queryCommand[L, T], context.Context, string,
) error {
	return func(c *queryCommand[L, T], ctx context.Context, id string) error {
		switch c.output {
		case "table", "wide", "json", "yaml", "ndjson":
		default:
			return command.Usage(fmt.Errorf("-o %s is of lists, not of one of %s", c.output, c.name))
		}
		answer, err := client.Item[A](ctx, c.client, c.name, id)
		if err != nil {
			return c.explain(err)
		}
		switch {
		case isDocument(c.output):
			err = WriteDocument(c.stdout, c.output, answer)
		case c.output == "ndjson":
			err = writeLines(c.stdout, nil, []A{*answer})
		default:
			err = draw(c.stdout, &c.view, answer)
		}
		return command.Quiet(err)
	}
}
