package cli

import (
	"path/filepath"

	"orange/internal/explore"
	"orange/internal/yaml"
)

// What SARIF 2.1.0 calls things. Code hosts show results next to the lines that they are about.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		CodeFlows    []sarifFlow        `json:"codeFlows,omitempty"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPlace `json:"physicalLocation"`
		Message  *sarifText `json:"message,omitempty"`
	}
	sarifPlace struct {
		Artifact sarifFile   `json:"artifactLocation"`
		Region   sarifRegion `json:"region"`
	}
	sarifFile struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	sarifFlow struct {
		Threads []sarifThread `json:"threadFlows"`
	}
	sarifThread struct {
		Locations []sarifStep `json:"locations"`
	}
	sarifStep struct {
		Location sarifLocation `json:"location"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// sarif is what a check has found in the form that code hosts read.
func (p *Program) sarif(problems, warnings yaml.Problems, file string, report explore.Report) sarifLog {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "orange", Version: p.Version, Rules: []sarifRule{}}},
		Results: []sarifResult{}}
	ruled := map[string]bool{}
	rule := func(id, text string) {
		if !ruled[id] {
			ruled[id] = true
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{id, sarifText{text}})
		}
	}
	for _, group := range []struct {
		level string
		found yaml.Problems
	}{{"error", problems}, {"warning", warnings}} {
		for _, f := range group.found {
			rule(f.Rule, f.Rule)
			run.Results = append(run.Results, sarifResult{
				RuleID: f.Rule, Level: group.level, Message: sarifText{f.Message}, Locations: []sarifLocation{
					sarifAt(f.File, f.Line, f.Col)},
			})
		}
	}
	about := map[string]string{}
	for _, property := range explore.Properties() {
		about[property.Name] = property.About
	}
	for _, v := range report.Verdicts {
		if v.OK {
			continue
		}
		rule(v.Name, about[v.Name])
		run.Results = append(run.Results, sarifOf(file, v))
	}
	for _, why := range report.NotProved() {
		rule("not-proved", "Not all of it could be looked at: nothing is proved.")
		run.Results = append(run.Results, sarifResult{
			RuleID: "not-proved", Level: "error", Locations: []sarifLocation{sarifAt(file, 1, 1)},
			Message: sarifText{"not proved: " + why},
		})
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

func sarifAt(file string, line, col int) sarifLocation {
	return sarifLocation{
		Physical: sarifPlace{sarifFile{filepath.ToSlash(file)}, sarifRegion{max(line, 1), max(col, 1)}}}
}

func sarifOf(file string, v explore.Verdict) sarifResult {
	r := sarifResult{
		RuleID: v.Name, Level: "error", Message: sarifText{v.Message + "; to do: " + v.Suggestion},
		Locations: []sarifLocation{sarifAt(file, v.Line, v.Col)},
	}
	if v.Mild {
		r.Level = "warning"
	}
	if v.Allowed != "" {
		r.Level, r.Suppressions = "note", []sarifSuppression{{"inSource", v.Allowed}}
	}
	var thread sarifThread
	for _, step := range v.Steps {
		at := sarifAt(file, v.Line, v.Col)
		at.Message = &sarifText{step}
		thread.Locations = append(thread.Locations, sarifStep{at})
	}
	if len(thread.Locations) > 0 {
		r.CodeFlows = []sarifFlow{{Threads: []sarifThread{thread}}}
	}
	return r
}
