package api

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// fillRecord puts a row into a record.
func fillRecord(record reflect.Value, columns []string, row []any, names map[uint32]string) error {
	for i := range record.NumField() {
		tag := record.Type().Field(i).Tag
		if of := tag.Get("node"); of != "" {
			if node, _ := record.FieldByName(of).Interface().(*uint32); node != nil {
				record.Field(i).SetString(names[*node])
			}
			continue
		}
		first, second, two := strings.Cut(tag.Get("store"), ",")
		at := slices.Index(columns, first)
		if at < 0 || row[at] == nil {
			continue
		}
		v := row[at]
		if two {
			hi, _ := v.(uint64)
			lo, _ := row[slices.Index(columns, second)].(uint64)
			v = telemetry.Addr{Hi: hi, Lo: lo}.IP()
		}
		if err := fillField(record.Field(i), v); err != nil {
			return fmt.Errorf("%s: %w", first, err)
		}
	}
	return nil
}

// fillField sets a pointer to a value, which has its type or can be converted without a loss.
func fillField(to reflect.Value, v any) error {
	from, kind := reflect.ValueOf(v), to.Type().Elem()
	if from.Type() == to.Type() {
		to.Set(from)
		return nil
	}
	exact := from.Type() == kind || from.Kind() != reflect.String && from.CanConvert(kind) &&
		kind != reflect.TypeFor[netip.Addr]() && kind != reflect.TypeFor[time.Time]()
	if !exact {
		return fmt.Errorf("got %T, want %v", v, kind)
	}
	value := reflect.New(kind)
	value.Elem().Set(from.Convert(kind))
	to.Set(value)
	return nil
}
