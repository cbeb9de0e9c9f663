package cli

import (
	"path/filepath"

	"orange/internal/proof/explore"
	"orange/internal/rules/yaml"
)

type object map[string]any

// sarif is what a check has found in the form that code hosts read, SARIF 2.1.0: they show results next to the lines
// that they are about.
func sarif(orange string, problems, warnings yaml.Problems, file string, report explore.Report) object {
	rules, results := []object{}, []object{}
	ruled := map[string]bool{}
	add := func(about string, result object) {
		if id := result["ruleId"].(string); !ruled[id] {
			ruled[id] = true
			rules = append(rules, object{"id": id, "shortDescription": object{"text": about}})
		}
		results = append(results, result)
	}
	for _, f := range problems {
		add(f.Rule, sarifResult(f.Rule, "error", f.Message, sarifPlace(f.File, f.Line, f.Col)))
	}
	for _, f := range warnings {
		add(f.Rule, sarifResult(f.Rule, "warning", f.Message, sarifPlace(f.File, f.Line, f.Col)))
	}
	about := map[string]string{}
	for _, property := range explore.Properties() {
		about[property.Name] = property.About
	}
	for _, v := range report.Verdicts {
		if !v.OK {
			add(about[v.Name], sarifOf(file, v))
		}
	}
	for _, why := range report.NotProved() {
		add("Not all of it could be looked at: nothing is proved.",
			sarifResult("not-proved", "error", "not proved: "+why, sarifPlace(file, 1, 1)))
	}
	driver := object{"name": "orange", "version": orange, "rules": rules}
	return object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": driver}, "results": results}},
	}
}

func sarifResult(rule, level, message string, place object) object {
	return object{"ruleId": rule, "level": level, "message": object{"text": message},
		"locations": []object{{"physicalLocation": place}}}
}

func sarifPlace(file string, line, col int) object {
	return object{
		"artifactLocation": object{"uri": filepath.ToSlash(file)},
		"region":           object{"startLine": max(line, 1), "startColumn": max(col, 1)},
	}
}

// sarifOf is a finding. The way to it is a code flow, each of its steps at the place of the property.
func sarifOf(file string, v explore.Verdict) object {
	place := sarifPlace(file, v.Line, v.Col)
	r := sarifResult(v.Name, "warning", v.Message+"; can happen: "+v.Risk+"; to do: "+v.Suggestion, place)
	if v.Allowed != "" {
		r["level"], r["suppressions"] = "note", []object{{"kind": "inSource", "justification": v.Allowed}}
	}
	var steps []object
	for _, step := range v.Steps {
		steps = append(steps, object{"location": object{"physicalLocation": place, "message": object{"text": step}}})
	}
	if len(steps) > 0 {
		r["codeFlows"] = []object{{"threadFlows": []object{{"locations": steps}}}}
	}
	return r
}
