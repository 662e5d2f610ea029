"""An agent in Python: put yours where `answer` is called. The worker imports this file."""

from evalrunner.targets import RunnableTarget


def answer(heard: list[str]) -> str:
    """Return what the agent says to the last thing that it heard."""
    return heard[-1].upper()


class Adapter:
    id = "own-agent.python"  # names this way of reaching the agent
    version = "1"  # raise it when observations change their shape
    supports_resume = False

    async def open(self, context):
        return Session()


class Session:
    """One conversation."""

    def __init__(self):
        self.heard = []

    async def send(self, input, context):
        self.heard.append(input["text"])
        return {"observation": {"response": {"text": answer(self.heard)}, "heard": list(self.heard)}}

    async def close(self):
        pass


target = RunnableTarget(id="own-agent", fingerprints=("1",), make_adapter=lambda fingerprint: Adapter())
