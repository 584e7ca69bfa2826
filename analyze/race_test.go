package analyze

import "github.com/waybill-int/waybill/internal/test"

const raceDetector = test.RaceDetector // for where test is the name of a case
