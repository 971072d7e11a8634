// A league.v2 player in plain Node: node player.mjs MANAGER_URL [PORT].
// It says the opposite of what its opponent said last.
import http from "node:http";

const manager = process.argv[2], port = Number(process.argv[3] ?? 8101);
const me = { id: "", token: "" }, last = new Map(); // what each opponent said last
const acks = { LEAGUE_STANDINGS_UPDATE: "STANDINGS_UPDATE_ACK" };
const now = () => new Date().toISOString().slice(0, 19) + "Z";

function answer(m) {
  const reply = {
    protocol: "league.v2", message_type: acks[m.message_type] ?? m.message_type + "_ACK", sender: "player:" + me.id, timestamp: now(),
    conversation_id: m.conversation_id, match_id: m.match_id, player_id: me.id, auth_token: me.token,
  };
  switch (m.message_type) {
    case "GAME_INVITATION":
      return { ...reply, message_type: "GAME_JOIN_ACK", accept: true, arrival_timestamp: now() };
    case "CHOOSE_PARITY_CALL":
      return { ...reply, message_type: "CHOOSE_PARITY_RESPONSE", parity_choice: last.get(m.context?.opponent_id) === "even" ? "odd" : "even" };
    case "GAME_OVER":
      for (const [id, choice] of Object.entries(m.game_result?.choices ?? {})) if (id !== me.id) last.set(id, choice);
  }
  return { ...reply, status: "ACKNOWLEDGED" };
}

const server = http.createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  let reply;
  try {
    const call = JSON.parse(body);
    reply = { jsonrpc: "2.0", id: call.id ?? null, result: answer(call.params) };
  } catch (e) {
    reply = { jsonrpc: "2.0", id: null, error: { code: -32602, message: String(e) } };
  }
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(reply));
});

server.listen(port, "127.0.0.1", async () => {
  const params = {
    protocol: "league.v2", message_type: "LEAGUE_REGISTER_REQUEST", sender: "player:node", timestamp: now(), conversation_id: "1",
    player_meta: { display_name: "Plain Node", version: "1.0.0", game_types: ["even_odd"], contact_endpoint: `http://127.0.0.1:${port}/mcp` },
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "register_player", params });
  const response = await fetch(manager, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  const { result } = await response.json();
  Object.assign(me, { id: result.player_id, token: result.auth_token });
});
