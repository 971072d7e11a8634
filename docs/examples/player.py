"""A league.v2 player in plain Python: python3 player.py MANAGER_URL [PORT]."""
import json, sys, threading, time, urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(sys.argv[2]) if len(sys.argv) > 2 else 8101
URL = f"http://127.0.0.1:{PORT}/mcp"
ME = {"id": "", "token": ""}
ANSWERS = {
    "GAME_INVITATION": "GAME_JOIN_ACK", "CHOOSE_PARITY_CALL": "CHOOSE_PARITY_RESPONSE",
    "GAME_OVER": "GAME_OVER_ACK", "GAME_ERROR": "GAME_ERROR_ACK", "ROUND_ANNOUNCEMENT": "ROUND_ANNOUNCEMENT_ACK",
    "LEAGUE_STANDINGS_UPDATE": "STANDINGS_UPDATE_ACK", "ROUND_COMPLETED": "ROUND_COMPLETED_ACK",
    "LEAGUE_COMPLETED": "LEAGUE_COMPLETED_ACK",
}

def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

def answer(message):
    echo = {k: message[k] for k in ("conversation_id", "match_id") if k in message}
    kind = ANSWERS[message["message_type"]]
    reply = {"protocol": "league.v2", "message_type": kind, "timestamp": now(), "sender": "player:" + ME["id"],
             "player_id": ME["id"], "auth_token": ME["token"], **echo}
    if kind == "GAME_JOIN_ACK":
        return reply | {"accept": True, "arrival_timestamp": now()}
    if kind == "CHOOSE_PARITY_RESPONSE":
        return reply | {"parity_choice": "even"}
    return reply | {"status": "ACKNOWLEDGED"}

class Player(BaseHTTPRequestHandler):
    def do_POST(self):
        body, call = self.rfile.read(int(self.headers["Content-Length"])), {}
        try:
            call = json.loads(body)
            reply = {"result": answer(call["params"])}
        except Exception as e:
            reply = {"error": {"code": -32602, "message": repr(e)}}
        body = json.dumps({"jsonrpc": "2.0", "id": call.get("id") if isinstance(call, dict) else None, **reply}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

server = ThreadingHTTPServer(("127.0.0.1", PORT), Player)
threading.Thread(target=server.serve_forever, daemon=True).start()
me = {"protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:py", "timestamp": now(), "conversation_id": "1",
      "player_meta": {"display_name": "Plain Python", "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": URL}}
call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": me}).encode()
for pause in (1, 2, 4, 0):
    try:
        with urllib.request.urlopen(urllib.request.Request(sys.argv[1], call, {"Content-Type": "application/json"})) as response:
            result = json.load(response)["result"]
        break
    except OSError as e:  # the manager is not there yet, or is busy
        print("not registered yet:", e, file=sys.stderr)
        time.sleep(pause)
else:
    sys.exit("the manager does not answer")
ME.update(id=result["player_id"], token=result["auth_token"])
threading.Event().wait()  # until somebody ends the program
