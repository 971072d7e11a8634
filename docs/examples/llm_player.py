"""A league.v2 player that asks a language model: python3 llm_player.py PORT [CALLS [TOKENS]].

It asks an OpenAI-compatible endpoint (OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL) until it has
made so many calls or used so many tokens, and chooses at random from then on."""
import json, os, random, sys, threading, urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(sys.argv[1])
budget = {"calls": int(sys.argv[2]) if len(sys.argv) > 2 else 1000, "tokens": int(sys.argv[3]) if len(sys.argv) > 3 else 100_000}
history = {}  # the opponent's choices, by opponent
lock = threading.Lock()  # of both

def ask(opponent):
    with lock:
        if budget["calls"] < 1 or budget["tokens"] < 1:
            return random.choice(["even", "odd"])
        budget["calls"] -= 1
        past = " ".join(history.get(opponent, [])[-20:]) or "nothing yet"
    prompt = f"You win if you differ from your opponent. It said: {past}. Answer with one word, even or odd."
    body = json.dumps({"model": os.environ.get("OPENAI_MODEL", "gpt-4o-mini"), "max_tokens": 3,
                       "messages": [{"role": "user", "content": prompt}]}).encode()
    url = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions"
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", "")}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=60) as response:
        said = json.load(response)
    with lock:
        budget["tokens"] -= said.get("usage", {}).get("total_tokens", 0)
    return "odd" if "odd" in said["choices"][0]["message"]["content"].lower() else "even"

def answer(m):
    kind = m["message_type"]
    reply = {"protocol": "league.v2", "sender": "player:P01", "timestamp": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
             "player_id": m.get("player_id", "P01"), **{k: m[k] for k in ("conversation_id", "match_id") if k in m}}
    if kind == "GAME_INVITATION":
        return reply | {"message_type": "GAME_JOIN_ACK", "accept": True}
    if kind == "CHOOSE_PARITY_CALL":
        return reply | {"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": ask(m["context"]["opponent_id"])}
    if kind == "GAME_OVER":
        with lock:
            for player, choice in m["game_result"]["choices"].items():
                if player != "P01":
                    history.setdefault(player, []).append(choice)
    return reply | {"message_type": kind.replace("LEAGUE_STANDINGS", "STANDINGS") + "_ACK", "status": "ACKNOWLEDGED"}

class Player(BaseHTTPRequestHandler):
    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            reply = {"result": answer(call["params"])}
        except Exception as e:
            print("failed:", repr(e), file=sys.stderr)
            reply = {"error": {"code": -32603, "message": repr(e)}}
        body = json.dumps({"jsonrpc": "2.0", "id": call.get("id"), **reply}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

ThreadingHTTPServer(("127.0.0.1", PORT), Player).serve_forever()
