// Command ask asks a server a question of each kind with the client that oapi-codegen makes of the server's OpenAPI
// document: ask ADDRESS REPORT, a report in base64. Of each answer it prints a line, as ask.ts does.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/waybill-int/waybill/ask/waybill"
)

func main() {
	if err := ask(context.Background(), os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func ask(ctx context.Context, address, text string) error {
	c, err := waybill.NewClientWithResponses(address)
	if err != nil {
		return err
	}

	filter := "packets > 0"
	list, err := c.FlowsWithResponse(ctx, &waybill.FlowsParams{Filter: &filter})
	if err != nil {
		return err
	}
	flows, err := list.JSON200.AsFlowList()
	if err != nil {
		return err
	}
	packets := uint64(0)
	for _, f := range *flows.Flows {
		packets += f.Packets
	}
	fmt.Println("list:", flows.Total, "flows,", packets, "packets")

	id := (*flows.Flows)[0].Id
	one, err := c.FlowWithResponse(ctx, id)
	if err != nil {
		return err
	}
	fmt.Println("one:", id == one.JSON200.Flow.Id, one.JSON200.Flow.Src, one.JSON200.Flow.Dst)

	topology, err := c.TopologyWithResponse(ctx, &waybill.TopologyParams{})
	if err != nil {
		return err
	}
	fmt.Println("document:", len(*topology.JSON200.Nodes), "nodes,", len(*topology.JSON200.Links), "links")

	csv := waybill.FlowsParamsFormat("csv")
	table, err := c.FlowsWithResponse(ctx, &waybill.FlowsParams{Filter: &filter, Format: &csv})
	if err != nil {
		return err
	}
	media := table.HTTPResponse.Header.Get("Content-Type")
	fmt.Println("table:", strings.Count(string(table.Body), "\n"), "lines of", media)

	wrong := "packets >"
	refused, err := c.FlowsWithResponse(ctx, &waybill.FlowsParams{Filter: &wrong})
	if err != nil {
		return err
	}
	problem := refused.ApplicationproblemJSONDefault
	fmt.Println("problem:", problem.Status, *problem.Parameter, problem.Detail)

	added, err := c.AddViewWithResponse(ctx, waybill.NewView{Name: "drops of s1", Address: "drops?filter=node+%3D+1"})
	if err != nil {
		return err
	}
	fmt.Println("change:", added.StatusCode(), added.JSON201.Page, added.JSON201.Name)
	removed, err := c.RemoveViewWithResponse(ctx, added.JSON201.Id)
	if err != nil {
		return err
	}
	fmt.Println("removal:", removed.StatusCode())

	report, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	decoded, err := c.DecodeWithBodyWithResponse(ctx, &waybill.DecodeParams{}, "application/octet-stream",
		bytes.NewReader(report))
	if err != nil {
		return err
	}
	fmt.Println("bytes:", decoded.JSON200.Length, (*decoded.JSON200.Layers)[0].Name)

	stream, err := c.StreamEvents(ctx, &waybill.StreamEventsParams{})
	if err != nil {
		return err
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() {
		if kind, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			fmt.Println("stream:", kind)
			return nil
		}
	}
	return lines.Err()
}
