// Package symptom recognises what is wrong and wants a cause: one file per symptom.
package symptom

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"

// Rules are all symptoms, in the order of the report.
var Rules = []*diagnosis.SymptomRule{}
