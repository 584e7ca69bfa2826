package types

import "github.com/waybill-int/waybill/telemetry"

// ForgetExporters is the body of POST /api/v1/exporters/forget.
type ForgetExporters struct {
	Filter string `json:"filter"` // of exporters; it must not be empty
}

// ForgottenExporters answers it, with what the accounts said.
type ForgottenExporters struct {
	Exporters []telemetry.Exporter `json:"exporters"`
}
