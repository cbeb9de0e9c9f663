package provider

import (
	"encoding/json"
	"fmt"
	"time"
)

// messages is the protocol of Anthropic's Messages API.
type messages struct{}

// blocks are the parts of a message: a text alone stands for one part.
type blocks []struct {
	Type    string
	Text    string
	Content content // of a tool's result
}

// UnmarshalJSON reads a text, or a list of parts.
func (b *blocks) UnmarshalJSON(body []byte) error {
	var text string
	if json.Unmarshal(body, &text) == nil {
		*b = blocks{{Type: "text", Text: text}}
		return nil
	}
	type list blocks // without this method
	return json.Unmarshal(body, (*list)(b))
}

func (messages) read(body []byte) (conversation, error) {
	var in struct {
		Messages []struct {
			Role    string
			Content blocks
		}
		Tools []struct {
			Name        string
			InputSchema schema `json:"input_schema"`
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return conversation{}, fmt.Errorf("read a request for a message: %w", err)
	}
	var c conversation
	for _, t := range in.Tools {
		c.tools = append(c.tools, tool{t.Name, t.InputSchema})
	}
	for _, m := range in.Messages {
		if m.Role != "user" {
			continue
		}
		for _, part := range m.Content {
			if part.Type == "tool_result" {
				c.turns = append(c.turns, turn{true, string(part.Content)})
			} else {
				c.turns = append(c.turns, turn{false, part.Text})
			}
		}
	}
	return c, nil
}

func (messages) write(a answer) []object {
	block, delta, reason := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": a.text}, "end_turn"
	if a.tool != "" {
		block = object{"type": "tool_use", "id": a.id, "name": a.tool, "input": object{}}
		delta, reason = object{"type": "input_json_delta", "partial_json": a.written()}, "tool_use"
	}
	return []object{
		{"type": "message_start", "message": object{"id": "answer-" + a.id, "type": "message", "role": "assistant",
			"model": "scripted", "content": []object{}, "stop_reason": nil, "stop_sequence": nil,
			"usage": object{"input_tokens": 1, "output_tokens": 1}}},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil},
			"usage": object{"output_tokens": 1}},
		{"type": "message_stop"},
	}
}

func (messages) refusal(s step, _ time.Time) object {
	kind, message := "api_error", "The script fails here."
	if s.limit > 0 {
		kind, message = "rate_limit_error",
			fmt.Sprintf("This request would exceed your account's rate limit. Please try again in %s.", s.limit)
	}
	return object{"type": "error", "error": object{"type": kind, "message": message}}
}
