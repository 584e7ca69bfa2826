module github.com/waybill-int/waybill

go 1.26
