"""Agents, as agents here: their commands, their prompt, and the tools that they may call."""

from __future__ import annotations

from ...core.types import Json
from .flows import Known
from .folder import Part

# a file is written and a command run through tools, like everything else that leaves the process
COMMANDS: dict[str, tuple[str, ...]] = {
    "SET_CONTEXT": ("set_context",),
    "CREATE_FILE": ("tool_invocation",),
    "RUN_COMMAND": ("tool_invocation",),
    "TOOL_INVOCATION": ("tool_invocation",),
    "USER_PROMPT": ("ask", "say"),
    "GENERATE_QUESTIONS": ("ask",),
    "ESCALATE": ("escalate",),
    "CONTINUE": ("continue",),
    "COMPLETE": ("complete",),
}
TOOLS = {"CREATE_FILE": "file.create", "RUN_COMMAND": "shell.run"}
_ABOUT = ("name", "version", "locality", "providerPreferences", "author", "contact")


class Agent:
    """`table`: without `tools`, which are known when everything was looked at; `prompt`: its text; `all`: it may call any tool."""

    def __init__(self, part: Part, known: Known) -> None:
        main = part.main
        self.id = part.name
        if main.name("id") != self.id:
            main.wrong("id", "it is not what the folder is called")
        for name in ("name", "version"):
            main.text(name)
        main.word("locality", {"LOCAL": "", "CLOUD": ""}, "")
        if not main.has("locality"):
            main.wrong("locality", "required, LOCAL or CLOUD")
        for choice in main.children("providerPreferences", least=1):
            choice.text("provider")
            choice.maybe("model")
            choice.over()
        if not main.flag("enabled", True):
            main.wrong("enabled", "an agent that is switched off cannot be imported")
        main.refuse("modelTier", "models are chosen by the operator here: name one in toolgate.toml")
        self.notes = main.notes(_ABOUT)
        self.prompt = self._prompt(part)
        named = main.texts("supportedCommands")
        for word in named:
            if word.strip() not in COMMANDS:
                main.wrong("supportedCommands", f"{word} cannot be imported: {', '.join(COMMANDS)} can")
        chosen = list(dict.fromkeys(word.strip() for word in named if word.strip() in COMMANDS))
        chosen = chosen or [word for word in COMMANDS if word != "TOOL_INVOCATION"]
        self.all = "TOOL_INVOCATION" in chosen
        self.own = [TOOLS[word] for word in chosen if word in TOOLS]
        known.tools |= dict.fromkeys(self.own)
        commands: list[Json] = [*dict.fromkeys(command for word in chosen for command in COMMANDS[word])]
        self.table: dict[str, Json] = {"model": "default", "prompt_file": f"agents/{self.id}.md", "commands": commands}
        if not {"USER_PROMPT", "ESCALATE"} & set(chosen):
            self.table["max_turns"] = 1  # there, a step is one call of the model unless it asks a person
        main.over()

    @staticmethod
    def _prompt(part: Part) -> str:
        main, files = part.main, part.texts
        if main.has("systemPrompt"):
            if files:
                main.wrong("systemPrompt", f"{' and '.join(files)} would be passed over: keep one of them")
            return main.text("systemPrompt")
        main.raw("systemPrompt")
        if not files.get("systemprompt.md", "").strip():
            main.wrong("systemPrompt", "required, here or in systemprompt.md")
        return "\n\n".join(files[name] for name in ("systemprompt.md", "boundaries.md") if name in files)

    def finished(self, tools: list[str]) -> dict[str, Json]:
        """With the tools that it may call, of those that there are."""
        allowed: list[Json] = ["**"] if self.all and tools else [*self.own]
        return {**self.table, "tools": allowed}
