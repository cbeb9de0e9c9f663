package cli

import (
	"encoding/json"
	"slices"
	"testing"

	"orange/internal/proof/explore"
	"orange/internal/rules/yaml"
)

// The parts of SARIF 2.1.0 that every reader of it asks for, told from its schema.
func TestAReportInSARIF_hasWhatTheFormatRequires(t *testing.T) {
	t.Parallel()
	problems := yaml.Problems{{File: "a.yml", Line: 3, Col: 5, Rule: "to-state", Message: "found nothing"}}
	report := explore.Report{Verdicts: []explore.Verdict{
		{Name: explore.Bounded, OK: true},
		{Name: explore.NobodyLeft, Message: "somebody lives", Steps: []string{"one", "two"}, Line: 7, Col: 1,
			Suggestion: "end it", Risk: "it costs money"},
		{Name: explore.RolesAct, Message: "nobody acts", Suggestion: "start it", Allowed: "a script acts"},
		{Name: explore.RulesLegal, Message: "nowhere", Suggestion: "say where"},
	}}
	text, err := json.Marshal(sarif("1", problems, problems, "a.yml", report))
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct {
						ID               string
						ShortDescription struct{ Text string }
					}
				}
			}
			Results []struct {
				RuleID    string
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn int }
					}
				}
				CodeFlows []struct {
					ThreadFlows []struct {
						Locations []struct {
							Location struct{ Message struct{ Text string } }
						}
					}
				}
				Suppressions []struct{ Kind string }
			}
		}
	}
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name == "" ||
		len(log.Runs[0].Results) != 5 {
		t.Fatalf("found %s", text)
	}
	var rules, levels []string
	for _, r := range log.Runs[0].Tool.Driver.Rules {
		rules = append(rules, r.ID)
		if r.ShortDescription.Text == "" {
			t.Errorf("the rule %q is not explained", r.ID)
		}
	}
	for i, r := range log.Runs[0].Results {
		levels = append(levels, r.Level)
		if !slices.Contains(rules, r.RuleID) || r.Message.Text == "" || len(r.Locations) != 1 {
			t.Errorf("result %d is %+v", i, r)
		}
		at := r.Locations[0].PhysicalLocation
		if at.ArtifactLocation.URI != "a.yml" || at.Region.StartLine < 1 || at.Region.StartColumn < 1 {
			t.Errorf("result %d is at %+v", i, at)
		}
	}
	if want := []string{"error", "warning", "warning", "note", "warning"}; !slices.Equal(levels, want) {
		t.Errorf("the levels are %v, want %v", levels, want)
	}
	results := log.Runs[0].Results
	if flow := results[2].CodeFlows; len(flow) != 1 || len(flow[0].ThreadFlows[0].Locations) != 2 ||
		flow[0].ThreadFlows[0].Locations[1].Location.Message.Text != "two" {
		t.Errorf("the way is %+v", flow)
	}
	if s := results[3].Suppressions; len(s) != 1 || s[0].Kind != "inSource" {
		t.Errorf("what is allowed is %+v", s)
	}
}
