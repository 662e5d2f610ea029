"""An agent that answers HTTP, with the standard library only: python3 service.py [PORT]"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

conversations = {}  # what was heard, by the id of the thread


def answer(heard):
    """Return what the agent says to the last thing that it heard."""
    return heard[-1].upper()


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.say(self.react(message, conversations.setdefault(message["threadId"], [])))

    def react(self, message, heard):
        if message["type"] == "turn":
            heard.append(message["input"]["text"])
            return {"observation": {"response": {"text": answer(heard)}, "heard": heard}}
        if message["type"] == "close":
            del conversations[message["threadId"]]
        return {}

    def say(self, data):
        body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8009
    print(f"Answering on http://127.0.0.1:{port}/agent")
    ThreadingHTTPServer(("127.0.0.1", port), Service).serve_forever()
