// Package client asks a server of Waybill: see Client. Its aliases are the types that answers are made of, so that
// programs which ask need to import nothing else.
package client
