package provider

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// protocol is how a program speaks with its provider.
type protocol interface {
	read(body []byte) (conversation, error)
	write(a answer) []object // the events of a stream
	refusal(s step, now time.Time) object
}

type object = map[string]any

// answer is what the model says: a text, or a call of a tool.
type answer struct {
	id        string
	text      string
	tool      string
	arguments object
}

// written is the arguments of the call as the text that most protocols want.
func (a answer) written() string {
	text, err := json.Marshal(a.arguments)
	if err != nil {
		return "{}" // words, lists of words and numbers have JSON
	}
	return string(text)
}

// content is a text, or a list of parts with texts.
type content string

// UnmarshalJSON joins the texts of the parts.
func (c *content) UnmarshalJSON(body []byte) error {
	var text string
	if json.Unmarshal(body, &text) == nil {
		*c = content(text)
		return nil
	}
	var parts []struct{ Text string }
	if err := json.Unmarshal(body, &parts); err != nil {
		*c = content(body) // whatever it is, it is shown in the log
		return nil
	}
	var all []string
	for _, p := range parts {
		all = append(all, p.Text)
	}
	*c = content(strings.Join(all, "\n"))
	return nil
}

// completions is the protocol of chat completions.
type completions struct{}

func (completions) read(body []byte) (conversation, error) {
	var in struct {
		Messages []struct {
			Role    string
			Content content
		}
		Tools []struct {
			Function struct {
				Name       string
				Parameters schema
			}
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return conversation{}, fmt.Errorf("read a chat completion: %w", err)
	}
	var c conversation
	for _, t := range in.Tools {
		c.tools = append(c.tools, tool{t.Function.Name, t.Function.Parameters})
	}
	for _, m := range in.Messages {
		if m.Role == "user" || m.Role == "tool" {
			c.turns = append(c.turns, turn{m.Role == "tool", string(m.Content)})
		}
	}
	return c, nil
}

func (completions) write(a answer) []object {
	delta, reason := object{"role": "assistant", "content": a.text}, "stop"
	if a.tool != "" {
		delta, reason = object{"role": "assistant", "tool_calls": []object{{"index": 0, "id": a.id, "type": "function",
			"function": object{"name": a.tool, "arguments": a.written()}}}}, "tool_calls"
	}
	chunk := func(delta object, reason any) object {
		return object{"id": "answer", "object": "chat.completion.chunk", "model": "scripted", "created": 1,
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": reason}}}
	}
	return []object{chunk(delta, nil), chunk(object{}, reason)}
}

func (completions) refusal(s step, _ time.Time) object {
	if s.limit == 0 {
		return object{"error": object{"message": "The script fails here.", "type": "server_error"}}
	}
	return object{"error": object{"type": "rate_limit_exceeded", "code": "rate_limit_exceeded",
		"message": fmt.Sprintf("Rate limit reached for scripted. Please try again in %s.", s.limit)}}
}

// responses is the protocol of responses.
type responses struct{}

func (responses) read(body []byte) (conversation, error) {
	var in struct {
		Input []struct {
			Type    string
			Role    string
			Content content
			Output  content
		}
		Tools []struct {
			Name       string
			Parameters schema
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return conversation{}, fmt.Errorf("read a request for a response: %w", err)
	}
	var c conversation
	for _, t := range in.Tools {
		c.tools = append(c.tools, tool{t.Name, t.Parameters})
	}
	for _, i := range in.Input {
		switch {
		case i.Type == "function_call_output":
			c.turns = append(c.turns, turn{true, string(i.Output)})
		case i.Role == "user":
			c.turns = append(c.turns, turn{false, string(i.Content)})
		}
	}
	return c, nil
}

func (responses) write(a answer) []object {
	item := object{"type": "message", "role": "assistant", "id": "message-" + a.id,
		"content": []object{{"type": "output_text", "text": a.text}}}
	if a.tool != "" {
		item = object{"type": "function_call", "id": "function-" + a.id, "call_id": a.id, "name": a.tool,
			"arguments": a.written()}
	}
	return []object{
		{"type": "response.created", "response": object{"id": "answer"}},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": object{"id": "answer", "output": []object{item}}},
	}
}

func (responses) refusal(s step, now time.Time) object {
	if s.limit == 0 {
		return object{"error": object{"message": "The script fails here.", "type": "server_error"}}
	}
	return object{"error": object{"type": "usage_limit_reached", "message": "The usage limit has been reached",
		"plan_type": "plus", "resets_at": now.Add(s.limit).Unix(), "resets_in_seconds": int(s.limit.Seconds())}}
}

// generate is the protocol of generateContent.
type generate struct{}

func (generate) read(body []byte) (conversation, error) {
	var in struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text             string
				FunctionResponse *struct{ Response json.RawMessage }
			}
		}
		Tools []struct {
			FunctionDeclarations []struct {
				Name                 string
				Parameters           *schema
				ParametersJSONSchema *schema `json:"parametersJsonSchema"`
			}
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return conversation{}, fmt.Errorf("read a request to generate content: %w", err)
	}
	var c conversation
	for _, t := range in.Tools {
		for _, f := range t.FunctionDeclarations {
			one := tool{name: f.Name}
			switch {
			case f.ParametersJSONSchema != nil:
				one.schema = *f.ParametersJSONSchema
			case f.Parameters != nil:
				one.schema = *f.Parameters
			}
			c.tools = append(c.tools, one)
		}
	}
	for _, t := range in.Contents {
		if t.Role != "user" {
			continue
		}
		for _, p := range t.Parts {
			if p.FunctionResponse != nil {
				c.turns = append(c.turns, turn{true, string(p.FunctionResponse.Response)})
			} else if p.Text != "" {
				c.turns = append(c.turns, turn{false, p.Text})
			}
		}
	}
	return c, nil
}

func (generate) write(a answer) []object {
	part := object{"text": a.text}
	if a.tool != "" {
		part = object{"functionCall": object{"id": a.id, "name": a.tool, "args": a.arguments}}
	}
	return []object{{"candidates": []object{{"index": 0, "finishReason": "STOP",
		"content": object{"role": "model", "parts": []object{part}}}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}}
}

func (generate) refusal(s step, _ time.Time) object {
	if s.limit == 0 {
		return object{"error": object{"code": s.status, "message": "The script fails here.", "status": "INTERNAL"}}
	}
	wait := fmt.Sprintf("%ds", int(s.limit.Seconds()))
	return object{"error": object{"code": s.status, "status": "RESOURCE_EXHAUSTED",
		"message": "You exceeded your current quota, please check your plan and billing details. Please retry in " +
			wait + ".",
		"details": []object{
			{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []object{{
				"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
				"quotaId":     "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}}},
			{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": wait},
		}}}
}
