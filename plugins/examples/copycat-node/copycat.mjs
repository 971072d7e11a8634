#!/usr/bin/env node
// A plugin in JavaScript, with nothing but Node: it speaks gRPC over HTTP/2 and
// reads and writes the few messages of strategy.proto by hand. docs/plugins.md
// explains the protocol. With a gRPC library, everything above "the strategy"
// is generated from the .proto.
//
// The strategy plays what its opponent played last time they met, and leaves
// the first meeting to the host's coin.

import fs from "node:fs";
import http2 from "node:http2";
import path from "node:path";

// ---- protocol buffers: see https://protobuf.dev/programming-guides/encoding

// readVarint returns a number below 2^53, which all of ours are.
function readVarint(buf, at) {
  let value = 0, scale = 1;
  for (;;) {
    const byte = buf[at.pos++];
    if (byte === undefined) throw new Error("message is cut short");
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
    scale *= 128;
  }
}

// fields calls visit(number, value) for every field: a number for varints, a
// Buffer for everything else.
function fields(buf, visit) {
  const at = { pos: 0 };
  while (at.pos < buf.length) {
    const tag = readVarint(buf, at), kind = tag % 8, number = Math.floor(tag / 8);
    if (kind === 0) {
      visit(number, readVarint(buf, at));
      continue;
    }
    const length = { 1: 8, 5: 4 }[kind] ?? readVarint(buf, at);
    visit(number, buf.subarray(at.pos, at.pos + length));
    at.pos += length;
  }
}

// packed reads a column of numbers.
function packed(buf) {
  const column = [], at = { pos: 0 };
  while (at.pos < buf.length) column.push(readVarint(buf, at));
  return column;
}

// seats reads a column of seats: zigzag differences from one to the next.
function seats(buf) {
  let seat = 0;
  return packed(buf).map((n) => (seat += n % 2 ? -(n + 1) / 2 : n / 2));
}

function varint(n) {
  const bytes = [];
  for (; n >= 128; n = Math.floor(n / 128)) bytes.push((n % 128) | 0x80);
  bytes.push(n);
  return Buffer.from(bytes);
}

const number = (field, n) => Buffer.concat([varint(field * 8), varint(n)]);
const bytes = (field, b) => Buffer.concat([varint(field * 8 + 2), varint(b.length), b]);
const text = (field, s) => bytes(field, Buffer.from(s));

function doubles(field, list) {
  const b = Buffer.alloc(8 * list.length);
  list.forEach((x, i) => b.writeDoubleLE(x, 8 * i));
  return bytes(field, b);
}

// ---- the strategy

// A seat is one player in one league: whom it last met, and what each opponent
// played last. Opponents stay what they are in the messages, places in the
// roster; 0 is one that is not known.
const newSeat = () => ({ opponent: 0, last: new Map() });

const ODD = 0, EVEN = 1, PROBABILITY = 2; // StepReply.choices

function choose(seat, opponent) {
  seat.opponent = opponent;
  return seat.last.get(opponent) ?? PROBABILITY;
}

function observe(seat, opponent, how) {
  const theirs = (how >> 2) & 3;
  if (theirs === 1) seat.last.set(opponent, EVEN);
  if (theirs === 2) seat.last.set(opponent, ODD);
}

// ---- the protocol

// step carries out a Step in the groups of one stream and returns a StepReply.
function step(groups, buf) {
  const s = { id: 0, group: 0, opens: [], close: [], end: false };
  fields(buf, (field, value) => {
    if (field === 1) s.id = value;
    else if (field === 2) s.group = value;
    else if (field === 6) s.opens.push(opened(value));
    else if (field === 7) s.observe = value;
    else if (field === 8) s.choose = value;
    else if (field === 9) s.close = seats(value);
    else if (field === 10) s.end = value === 1;
  });
  if (!groups.has(s.group)) groups.set(s.group, new Map());
  const group = groups.get(s.group);
  for (const seat of s.opens) group.set(seat, newSeat());
  if (s.observe) observeAll(group, s.observe);
  const answers = s.choose ? chooseAll(group, s.choose) : [];
  for (const seat of s.close) group.delete(seat);
  if (s.end) groups.delete(s.group);
  const coins = answers.filter((a) => a === PROBABILITY).map(() => 0.5);
  return Buffer.concat([number(1, s.id), bytes(2, Buffer.from(answers)), doubles(3, coins)]);
}

function opened(buf) {
  let seat = 0; // a field that is 0 is not sent
  fields(buf, (field, value) => field === 1 && (seat = value));
  return seat;
}

function observeAll(group, buf) {
  let who = [], how = Buffer.alloc(0), of = null;
  fields(buf, (field, value) => {
    if (field === 1) who = seats(value);
    else if (field === 2) how = value;
    else if (field === 5) fields(value, (f, v) => f === 5 && (of = packed(v)));
  });
  who.forEach((id, i) => {
    const seat = group.get(id);
    observe(seat, of ? of[i] : seat.opponent, how[i]); // without "of", the match it last chose in
  });
}

function chooseAll(group, buf) {
  let who = [], opponents = [];
  fields(buf, (field, value) => {
    if (field === 1) who = seats(value);
    else if (field === 5) opponents = packed(value);
  });
  return who.map((id, i) => choose(group.get(id), opponents[i]));
}

function describe() {
  const strategy = Buffer.concat([
    text(1, "copycat"),
    text(2, "Plays what the opponent played last time."),
    text(3, "Tosses a coin at the first meeting. An example of a plugin in JavaScript, for Node."),
  ]);
  return bytes(1, strategy);
}

// ---- gRPC: messages with five bytes before them, in HTTP/2 streams

function framed(message) {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

// eachMessage calls handle for every message of a stream.
function eachMessage(stream, handle) {
  let held = Buffer.alloc(0);
  stream.on("data", (chunk) => {
    held = held.length ? Buffer.concat([held, chunk]) : chunk;
    while (held.length >= 5 && held.length >= 5 + held.readUInt32BE(1)) {
      const end = 5 + held.readUInt32BE(1);
      handle(held.subarray(5, end));
      held = held.subarray(end);
    }
  });
}

function begin(stream) {
  stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
}

const service = "/strategylab.strategy.v1.Strategies/";

const server = http2.createServer();
server.on("stream", (stream, headers) => {
  stream.on("error", () => {}); // the host is gone; its pipe says so as well
  switch (headers[":path"]) {
    case service + "Describe":
      begin(stream);
      stream.resume();
      stream.end(framed(describe()));
      return;
    case service + "Play": {
      begin(stream);
      const groups = new Map();
      eachMessage(stream, (request) => {
        const answers = [];
        fields(request, (field, value) => field === 1 && answers.push(bytes(1, step(groups, value))));
        if (answers.length) stream.write(framed(Buffer.concat(answers)));
      });
      stream.on("end", () => stream.end());
      return;
    }
    case "/plugin.GRPCController/Shutdown":
      begin(stream);
      stream.on("close", () => process.exit(0));
      stream.resume();
      stream.end(framed(Buffer.alloc(0)));
      return;
    default: // other services of go-plugin, which it can do without
      stream.respond({ ":status": 200, "content-type": "application/grpc+proto", "grpc-status": "12" }, { endStream: true });
  }
});

// ---- the process

if (process.env.STRATEGYLAB_PLUGIN !== "league.v2") {
  console.error("This is a plugin: strategylab starts it.");
  process.exit(1);
}

// The host holds the other end of this pipe: when it ends, so do we.
const parent = Number(process.env.STRATEGYLAB_PARENT_FD);
if (parent >= 3) {
  fs.createReadStream("", { fd: parent }).on("close", () => process.exit(1)).on("error", () => process.exit(1)).resume();
}

const socket = path.join(process.env.PLUGIN_UNIX_SOCKET_DIR, "copycat");
server.listen(socket, () => console.log(`1|1|unix|${socket}|grpc|`));
