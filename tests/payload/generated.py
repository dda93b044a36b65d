"""Random conversations, models and options, from a seed: what the reference is compared on."""

from __future__ import annotations

from random import Random
from typing import Any

from payload.flags import FLAGS

Value = dict[str, Any]
APIS = ("openai-completions", "anthropic-messages", "openai-responses")
LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
PROVIDERS = (
    "p",
    "p",
    "p",
    "openai",
    "deepseek",
    "zai",
    "openrouter",
    "together",
    "xai",
    "opencode",
    "opencode-go",
    "openai-codex",
    "github-copilot",
    "anthropic",
    "ant-ling",
    "moonshotai",
    "cloudflare-workers-ai",
    "cerebras",
    "nvidia",
)
URLS = (
    "http://127.0.0.1:9/v1",
    "http://127.0.0.1:9/v1",
    "https://api.openai.com/v1",
    "https://API.DeepSeek.com",
    "https://api.z.ai/api",
    "https://openrouter.ai/api/v1",
    "https://llm.chutes.ai/v1",
    "https://gateway.ai.cloudflare.com/v1",
    "https://api.together.xyz/v1",
)
TEXTS = (
    "",
    " ",
    "\n",
    "\u00a0",
    "\u0085",
    "a",
    "héllo wörld",
    "\ud800",
    "x\udc00y",
    "😀",
    "\ufeff",
    "two\r\nlines",
    "  padded ",
    "(image omitted: model does not support images)",
    "(tool image omitted: model does not support images)",
    "long " * 900,
)
IDS = (
    "a",
    "b",
    "c1|fc_1",
    "c1|fc_2|more",
    "c|ctc_1",
    "c|xx",
    "c+2|x/_",
    "d|",
    "___",
    "call_" + "9" * 60,
    "call_" + "8" * 60 + "|fc_" + "7" * 60,
    "é😀|fc_ü",
    "toolu_1",
)
NAMES = ("read", "bash", "edit", "grammar", "late", "codemode")
SECTIONS = ("preamble", "tools", "cwd", "7", "2", "extra")
TEXT_SIGNATURES = (
    "msg_1",
    "m" * 64,
    "m" * 65,
    "",
    '{"v":1,"id":"msg_j","phase":"commentary"}',
    '{"v":1,"id":"msg_k","phase":"other"}',
    '{"v":1,"id":""}',
    '{"v":2,"id":"msg_z"}',
    "{broken",
)
DETAIL = '{"type":"reasoning.encrypted","id":"r1","data":"XYZ","format":"f","index":0}'
SIGNATURES = (
    "reasoning",
    "reasoning_content",
    "reasoning_text",
    "SIG",
    " ",
    "",
    '{"type":"reasoning","id":"rs_1","summary":[]}',
    '[{"type":"reasoning.text","text":"t","signature":null}]',
    '[{"type":"reasoning.summary","summary":"s"},{"type":"x"}]',
    "[" + DETAIL + "]",
    "[]",
)


class Generator:
    """Makes one case after the other."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.time = 1000
        self.model: Value = {}

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def one(self, choices: Any) -> Any:
        return self.random.choice(choices)

    def case(self, api: str) -> Value:
        """Give a model, messages and options, as the oracle takes them."""
        self.model = self.new_model(api)
        options = {
            "reasoning": self.one(LEVELS),
            "thinkingBudgets": self.one(({}, {}, {"low": 500, "high": 0}, {"medium": 30_000})),
            "cacheRetention": self.one(("short", "long", "none")),
            "sessionId": self.one(("id", "s" * 70, "😀" * 70)),
        }
        messages: list[Value] = []
        if self.chance(0.8):
            messages.append(self.system())
        for _ in range(self.random.randint(0, 7)):
            messages += self.turn()
        return {"model": self.model, "messages": messages, "options": options}

    def new_model(self, api: str) -> Value:
        compat = {key: self.one(values) for key, values in FLAGS[api].items() if self.chance(0.45)}
        model = {
            "api": api,
            "provider": self.one(PROVIDERS),
            "id": self.one(("m", "anthropic/x", "m2")),
            "baseUrl": self.one(URLS),
            "reasoning": self.chance(0.7),
            "input": self.one((["text"], ["text", "image"])),
            "contextWindow": self.one((128_000, 200_000, 32_768, 20_000, 5_000, 0)),
            "maxTokens": self.one((16_384, 64_000, 2_000, 1_025, 900, 4)),
            "compat": compat,
        }
        if self.chance(0.5):
            model["thinkingLevelMap"] = {
                level: self.one((None, "", "x-" + level, level))
                for level in LEVELS
                if self.chance(0.4)
            }
        if self.chance(0.3):
            model["samplingParams"] = self.one(
                ({"temperature": 0.5}, {"top_p": 1, "model": "mine"})
            )
        if self.chance(0.3):
            model["samplingParamsByThinkingLevel"] = {
                level: {"seed": 1, "temperature": 1.5} for level in LEVELS if self.chance(0.5)
            }
        return model

    def now(self) -> Value:
        """Give the key for a time, mostly a later one."""
        if self.chance(0.02):
            return self.one(({}, {}, {"timestamp": None}, {"timestamp": 0}))
        self.time += self.one((0, 1, 5, 5, -30)) if self.chance(0.3) else 1
        return {"timestamp": self.time}

    def turn(self) -> list[Value]:
        kind = self.random.random()
        if kind < 0.3:
            return [self.user()]
        if kind < 0.45:
            return [self.system()]
        if kind < 0.52:
            return [self.result(self.one(IDS), "read")]
        reply = self.reply()
        found: list[Value] = [reply]
        for block in filter(None, reply["content"]):
            if block["type"] == "toolCall" and self.chance(0.85):
                if self.chance(0.08):
                    found.append(self.system())
                found.append(self.result(block["id"], block["name"]))
        if self.chance(0.1):
            self.random.shuffle(found)
        return found

    def system(self) -> Value:
        value: Value = {"role": "system", "content": self.one((*TEXTS[:8], "prompt", "more"))}
        if self.chance(0.1):
            value["content"] = self.texts()
        if self.chance(0.4):
            value["sections"] = {
                name: self.one((None, "", "text of " + name, "\ud800", "<x>\ny\n</x>"))
                for name in SECTIONS
                if self.chance(0.4)
            }
        if self.chance(0.5):
            value["toolsAdded"] = [
                self.tool(name) for name in self.random.sample(NAMES, self.random.randint(0, 3))
            ]
        if self.chance(0.25):
            names = self.random.sample(NAMES, self.random.randint(0, 2))
            value["toolsRemoved"] = [{"name": name} for name in names]
        return {**value, **self.now()}

    def tool(self, name: str) -> Value:
        tool: Value = {"name": name, "description": "does " + name, "parameters": self.schema()}
        if self.chance(0.9 if name == "grammar" else 0.03):
            tool |= self.grammar()
        elif self.chance(0.6):
            strict = self.one(({}, *({"strict": "prefer"},) * 6, {"strict": "require"}))
            tool["constrainedSampling"] = {"type": "json_schema", **strict}
        if self.chance(0.03):
            del tool["description"]
        return tool

    def grammar(self) -> Value:
        argument = self.one(("input", "input", "input", "code"))
        schema = {
            "type": "object",
            "properties": {argument: {"type": "string"}},
            "required": [argument] if self.chance(0.98) else [],
        }
        choices = (
            {"openai_lark": "start: x"},
            {"openai_regex": ".", "openai_lark": " "},
            {"openai_regex": "[a-z]", "openai_lark": "start: y"},
        )
        variants = self.one(choices) if self.chance(0.98) else {}
        return {
            "parameters": schema,
            "constrainedSampling": {"type": "grammar", "variants": variants},
        }

    def schema(self) -> Value:
        names = ["path", "n", "deep", "list", "9", "pick", "10"]
        names = self.random.sample(names, self.random.randint(0, 4))
        schema: Value = {"type": "object", "properties": {name: self.node(2) for name in names}}
        return self.dressed(schema, names)

    def dressed(self, schema: Value, names: list[str]) -> Value:
        """Add keys of an object's schema, some before and some behind its properties."""
        if self.chance(0.7):
            schema["required"] = [name for name in names if self.chance(0.5)]
        if self.chance(0.3):
            schema["additionalProperties"] = False if self.chance(0.9) else self.one((True, {}))
        if self.chance(0.2):
            schema = {"$schema": "s", **schema, "title": "T"}
        if self.chance(0.03):
            schema["$defs"] = {"x": {"type": "string"}}
        if self.chance(0.03):
            schema["required"] = self.one((["unknown"], [1], "path", None))
        if self.chance(0.03):
            del schema["properties"]
        return schema

    def node(self, levels: int) -> Any:
        kind = self.random.random()
        if levels and kind < 0.12:
            names = ["q", "r"][: self.random.randint(0, 2)]
            properties = {name: self.node(levels - 1) for name in names}
            return self.dressed({"type": "object", "properties": properties}, names)
        if levels and kind < 0.22:
            return {"type": "array", **({"items": self.node(levels - 1)} if kind < 0.2 else {})}
        if levels and kind < 0.34:
            return {
                "anyOf": [
                    self.node(0) for _ in range(self.random.randint(0 if kind < 0.23 else 1, 3))
                ]
            }
        simple: tuple[Any, ...] = (
            {"type": "string", "description": "d"},
            {"type": "string", "enum": ["a", "b"], "default": "a"},
            {"type": ["number", "null"]},
            {"type": "null"},
            {"type": "integer"},
            {"enum": ["a", None]},
            {"type": "string", "format": "date", "pattern": "x", "maxLength": 3},
            {"type": "string", "const": None},
        )
        if self.chance(0.85):
            return self.one(simple)
        odd = (
            {"const": 1},
            {"description": "any"},
            {"type": "integer", "minimum": 1},
            {"type": "string", "format": "regex"},
            {"type": "array", "items": {"type": "string"}, "minItems": self.one((0, 1, 2))},
            {"type": "array", "items": [{"type": "string"}]},
            {"type": ["object", "null"], "properties": {}},
            {"$ref": "#/x"},
            {"type": "string", "not": {}},
            True,
        )
        return self.one(odd)

    def texts(self) -> list[Value]:
        return [self.text() for _ in range(self.random.randint(0, 3))]

    def text(self) -> Value:
        return {"type": "text", "text": self.one(TEXTS)}

    def blocks(self) -> list[Value]:
        image = {"type": "image", "data": "QQ==", "mimeType": "image/png"}
        if self.chance(0.05):
            image = {"mimeType": "image/webp", "type": "image", "data": ""}
        return [
            image if self.chance(0.35) else self.text() for _ in range(self.random.randint(0, 4))
        ]

    def user(self) -> Value:
        content = self.one(TEXTS) if self.chance(0.5) else self.blocks()
        return {"role": "user", "content": content, **self.now()}

    def result(self, call_id: str, name: str) -> Value:
        value = {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": name,
            "content": self.blocks(),
        }
        if self.chance(0.03):
            del value["toolName"]
        if self.chance(0.02):
            value["content"] = None
        if self.chance(0.01) and "image" in self.model["input"]:
            # Of others the reference makes blanks, one for each letter.
            value["content"] = "plain"
        return {**value, **self.one(({"isError": True}, {"isError": False}, {})), **self.now()}

    def reply(self) -> Value:
        model = self.model
        names = {key: model[key] for key in ("api", "provider")}
        origin = self.random.random()
        if origin < 0.2:
            names = {"api": self.one(APIS), "provider": self.one(("p", "openai"))}
        named = model["id"] if origin < 0.7 else "other"
        blocks = [self.block() for _ in range(self.random.randint(0, 4))]
        value = {"role": "assistant", "content": blocks, **names, "model": named}
        if self.chance(0.3):
            value["providerThinkingLevel"] = self.one(("low", "high", "xhigh", "minimal", "none"))
        counts = {
            "input": self.one((0, 500, 90_000)),
            "output": 20,
            "cacheRead": 0,
            "cacheWrite": 3,
        }
        total = self.one((0, 0, 700, 120_000, None))
        value["usage"] = {**counts, **({} if total is None else {"totalTokens": total})}
        if self.chance(0.01):
            del value["usage"]
        if self.chance(0.01):
            value["content"] = [None]
        value["stopReason"] = self.one(("stop", "stop", "toolUse", "length", "error", "aborted"))
        return {**value, **self.now()}

    def block(self) -> Value:
        kind = self.random.random()
        if kind < 0.35:
            block = self.text()
            if self.chance(0.5):
                block["textSignature"] = self.one(TEXT_SIGNATURES)
            return block
        if kind < 0.65:
            block = {"type": "thinking", "thinking": self.one(TEXTS)}
            if self.chance(0.8):
                block["thinkingSignature"] = self.signature()
            if self.chance(0.1):
                block["redacted"] = True
            return block
        name = self.one(NAMES)
        arguments: Value = {"path": self.one(TEXTS), "n": 1.5e300, "list": [1, {"9": 1, "1": 2}]}
        if name == "grammar":
            arguments = {"input": self.one(TEXTS)} if self.chance(0.9) else {"input": 5}
        block = {"type": "toolCall", "id": self.one(IDS), "name": name, "arguments": arguments}
        if self.chance(0.2):
            block["thoughtSignature"] = self.one((DETAIL, '{"type":"reasoning.text"}', "x"))
        if self.chance(0.1):
            block["namespace"] = "ns"
        if self.chance(0.03):
            block["arguments"] = self.one((None, [], "text", 0))
        if self.chance(0.02):
            del block["arguments"]
        return block

    def signature(self) -> str:
        if self.model["api"] == "openai-responses" and self.chance(0.9):
            # Anything else is no JSON: the reference makes no request of it.
            return SIGNATURES[6]
        signature: str = self.one(SIGNATURES)
        return signature
