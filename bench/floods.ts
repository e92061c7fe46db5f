import { randomUUID, randomBytes } from 'node:crypto';
import { request, type IncomingHttpHeaders } from 'node:http';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { connect as connectSocket, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Pool } from 'undici';
import { post } from './post.js';

/** Whom a flood is aimed at, and with whose key. Travels to the process that floods as JSON. */
export interface FloodTarget {
  /** The HTTP listener: `http://127.0.0.1:40123`. */
  readonly url: string;
  /** OTLP over gRPC: `grpc://127.0.0.1:40124`. */
  readonly grpcUrl: string;
  /** Of a user of its own. */
  readonly key: string;
}

/** What one careless or hostile client does. */
export interface Flood {
  /** What it does, for the table. */
  readonly title: string;
  /** Goes on until it is told to stop, or until it has done what it is for. */
  run(target: FloodTarget, tally: Tally, stop: AbortSignal): Promise<void>;
}

/** Counts what a flood did and what came of it: `sent 200: 3000`. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(what: string, count = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  /** Everything counted, in the order of its first coming. */
  text(): string {
    return [...this.#counts].map(([what, count]) => `${what}: ${count}`).join(', ');
  }
}

/**
 * Where floods come from: another loopback address than the neighbour's, as clients of two machines have two.
 */
const FLOOD_ADDRESS = '127.0.0.2';

const POST_TIMEOUT_MS = 60_000;
/** After an answer that asks to come again later: a client of a kind that minds it a little. */
const REST_MS = 20;

/**
 * Posts bodies over several connections, each as soon as the one before is answered, until there are no more or it is told
 * to stop.
 *
 * @param next the next request; null where there are no more
 */
async function postAll(
  { url, key }: FloodTarget,
  connections: number,
  next: () => { readonly path: string; readonly body: Buffer } | null,
  { tally, stop }: { readonly tally: Tally; readonly stop: AbortSignal },
): Promise<void> {
  const pool = new Pool(url, {
    connections,
    pipelining: 1,
    headersTimeout: POST_TIMEOUT_MS,
    bodyTimeout: POST_TIMEOUT_MS,
    localAddress: FLOOD_ADDRESS,
  });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const send = async (): Promise<void> => {
    for (let request = next(); request !== null && !stop.aborted; request = next()) {
      const { status, failure } = await post(pool, request.path, headers, request.body);
      tally.add(failure ?? `answered ${status}`);
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, REST_MS));
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  await pool.destroy();
}

const AGENTS = 300_000;
const RUNS_PER_REQUEST = 100;
const AGENT_CONNECTIONS = 16;

/** Every run names an agent of its own: a program that puts an order's number into the name. */
const newAgents: Flood = {
  title: `${AGENTS} agent names`,
  async run(target, tally, stop) {
    let agents = 0;
    const started = new Date().toISOString();
    const next = () => {
      if (agents >= AGENTS) return null;
      const traces = Array.from({ length: RUNS_PER_REQUEST }, () => ({
        trace: { trace_id: randomUUID(), agent: `order-${agents++}`, started_at: started, ended_at: started },
        spans: [],
      }));
      return { path: '/api/v1/traces/batch', body: Buffer.from(JSON.stringify({ traces })) };
    };
    await postAll(target, AGENT_CONNECTIONS, next, { tally, stop });
    tally.add('names sent', agents);
  },
};

const TRACE_SPANS = 1_000_000;
const SPANS_PER_REQUEST = 500;
const TRACE_CONNECTIONS = 4;

/** One trace that goes on and on: a `TRACEPARENT` that every process of a server inherits. */
const longTrace: Flood = {
  title: `a trace of ${TRACE_SPANS} spans`,
  async run(target, tally, stop) {
    const traceId = randomBytes(16).toString('hex');
    const rootId = randomBytes(8).toString('hex');
    let sent = 0;
    const next = () => {
      if (sent >= TRACE_SPANS) return null;
      sent += SPANS_PER_REQUEST;
      const now = BigInt(Date.now()) * 1_000_000n;
      const spans = Array.from({ length: SPANS_PER_REQUEST }, () => ({
        traceId,
        spanId: randomBytes(8).toString('hex'),
        parentSpanId: rootId,
        name: 'chat',
        kind: 3,
        startTimeUnixNano: String(now - 2_000_000n),
        endTimeUnixNano: String(now),
        attributes: [
          { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
          { key: 'gen_ai.request.model', value: { stringValue: 'gpt-5-mini' } },
          { key: 'gen_ai.usage.input_tokens', value: { intValue: '10' } },
        ],
      }));
      const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'never-ending' } }] };
      const body = { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] };
      return { path: '/v1/traces', body: Buffer.from(JSON.stringify(body)) };
    };
    await postAll(target, TRACE_CONNECTIONS, next, { tally, stop });
    tally.add('spans sent', sent);
  },
};

const DROPPED_READS = 50;
const DROPPED_AFTER_MS = 200;
const PAUSE_MS = 800;
/** Each looks at everything that the user has. */
const PATHS = [
  '/api/v1/dashboard/logs/search?query=%22nothing%20is%20left%22',
  '/api/v1/dashboard/logs/search?query=%22is%20left%22&offset=100000',
  '/api/v1/dashboard/traces?query=nowhere%20to%20be%20found',
  '/api/v1/dashboard/models',
];

/** A dashboard with fifty panels that is closed before any has an answer, and opened again. */
const droppedReads: Flood = {
  title: `${DROPPED_READS} expensive reads dropped at once`,
  async run({ url, key }, tally, stop) {
    while (!stop.aborted) {
      const requests = Array.from({ length: DROPPED_READS }, (_, number) => {
        const sent = request(new URL(PATHS[number % PATHS.length] ?? '', url), {
          agent: false,
          localAddress: FLOOD_ADDRESS,
          headers: { authorization: `Bearer ${key}` },
        });
        sent.on('response', (response) => {
          tally.add(`answered ${response.statusCode ?? 0}`);
          response.on('error', () => undefined).resume();
        });
        sent.on('error', () => {
          tally.add('dropped');
        });
        return sent.end();
      });
      await sleep(DROPPED_AFTER_MS);
      for (const sent of requests) sent.destroy();
      await sleep(PAUSE_MS);
    }
  },
};

const SOCKETS = 1000;
const SOCKET_TURN_MS = 1000;
const MANY_REQUESTS = 50;

/** What a socket sends when it is open, and then a byte of each second. */
const KINDS: readonly ((target: FloodTarget) => { readonly name: string; readonly head: string })[] = [
  () => ({ name: 'heads', head: 'GET /api/v1/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ' }),
  ({ key }) => ({
    name: 'bodies',
    head: `POST /api/v1/traces/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{`,
  }),
  // Answers that nobody takes; the kernel's buffers hold the first few.
  () => ({
    name: 'readers',
    head: 'GET /api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(MANY_REQUESTS),
  }),
];

/** Sockets that are opened and hardly used, and opened again when they are closed. */
const slowSockets: Flood = {
  title: `${SOCKETS} slow sockets`,
  async run(target, tally, stop) {
    const open = new Map<Socket, boolean>();
    let number = 0;
    while (!stop.aborted) {
      while (open.size < SOCKETS) {
        const kind = KINDS[number++ % KINDS.length]?.(target);
        if (kind === undefined) continue;
        const socket = slowSocket(target, kind.head);
        // Who reads sends nothing more.
        open.set(socket, kind.name !== 'readers');
        socket.once('connect', () => {
          tally.add(`${kind.name} opened`);
        });
        socket.once('close', () => {
          if (open.delete(socket)) tally.add(`${kind.name} closed`);
        });
      }
      await sleep(SOCKET_TURN_MS);
      for (const [socket, sends] of open) if (sends) socket.write('x');
    }
    for (const socket of open.keys()) {
      open.delete(socket);
      socket.destroy();
    }
  },
};

function slowSocket({ url }: FloodTarget, head: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connectSocket({ host: hostname, port: Number(port), localAddress: FLOOD_ADDRESS });
  socket.on('error', () => undefined);
  // Never resumed: what comes stays in the kernel.
  socket.pause();
  socket.write(head);
  return socket;
}

const SESSIONS = 10;
const CALLS_PER_SESSION = 20;
const CALL_TURN_MS = 1000;
const MIB = 2 ** 20;
const PREFIX_BYTES = 5;
const EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

/** gRPC calls that are begun and never ended: some with most of a message, some with one that is small only in gzip. */
const parkedCalls: Flood = {
  title: `${SESSIONS * CALLS_PER_SESSION} parked gRPC calls`,
  async run(target, tally, stop) {
    const most = framed(Buffer.alloc(4 * MIB - 1024), false).subarray(0, 3 * MIB);
    const inflated = framed(gzipSync(Buffer.alloc(4 * MIB - 1024)), true);
    const sessions = new Set<ClientHttp2Session>();
    while (!stop.aborted) {
      while (sessions.size < SESSIONS) {
        const session = park(target, [most, inflated], tally);
        sessions.add(session);
        session.once('close', () => sessions.delete(session));
      }
      await sleep(CALL_TURN_MS);
    }
    for (const session of sessions) session.destroy();
  },
};

function park({ grpcUrl, key }: FloodTarget, messages: readonly Buffer[], tally: Tally): ClientHttp2Session {
  const { host, hostname, port } = new URL(grpcUrl);
  const session = connectHttp2(`http://${host}`, {
    createConnection: () =>
      connectSocket({ host: hostname, port: Number(port), localAddress: FLOOD_ADDRESS }),
  });
  session.on('error', () => {
    tally.add('connections that failed');
  });
  for (let number = 0; number < CALLS_PER_SESSION; number++) {
    const call = session.request({
      ':method': 'POST',
      ':path': EXPORT,
      te: 'trailers',
      'content-type': 'application/grpc',
      'grpc-encoding': 'gzip',
      authorization: `Bearer ${key}`,
    });
    tally.add('begun');
    call.on('error', () => undefined);
    call.on('response', (headers) => {
      const status = headers['grpc-status'];
      tally.add(status === undefined ? 'answered with more to come' : `answered ${String(status)}`);
    });
    call.on('trailers', (trailers: IncomingHttpHeaders) => {
      tally.add(`ended ${String(trailers['grpc-status'])}`);
    });
    call.resume();
    call.write(messages[number % messages.length]);
  }
  return session;
}

/** A message as gRPC frames it: whether it is compressed, its length, its bytes. */
function framed(message: Buffer, isCompressed: boolean): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt8(isCompressed ? 1 : 0, 0);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

const JSON_CONNECTIONS = 8;
const JSON_MIB = 2 ** 20;

/** Bodies that are small to send and large to parse, on routes with small limits and with large ones. */
const jsonBombs: Flood = {
  title: 'deep and wide JSON',
  async run(target, tally, stop) {
    const deep = (bytes: number) => Buffer.from('['.repeat(bytes));
    const nested = (depth: number) => Buffer.from(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
    const wide = (bytes: number) => Buffer.from(`[${'{},'.repeat(bytes / 3)}{}]`);
    const requests = [
      { path: '/api/v1/alerts', body: wide(JSON_MIB - 1024) },
      { path: '/api/v1/dashboard/prompts/', body: wide(8 * JSON_MIB) },
      { path: '/api/v1/traces/batch', body: wide(8 * JSON_MIB) },
      { path: '/api/v1/traces/batch', body: deep(4 * JSON_MIB) },
      { path: '/api/v1/traces/batch', body: nested(40_000) },
      { path: '/v1/traces', body: wide(16 * JSON_MIB) },
      { path: '/v1/logs', body: nested(40_000) },
    ];
    let sent = 0;
    const next = () => requests[sent++ % requests.length] ?? null;
    await postAll(target, JSON_CONNECTIONS, next, { tally, stop });
  },
};

/** By the name that `--floods` takes, in the order in which they come. */
export const FLOODS = {
  agents: newAgents,
  trace: longTrace,
  reads: droppedReads,
  sockets: slowSockets,
  grpc: parkedCalls,
  json: jsonBombs,
} as const satisfies Readonly<Record<string, Flood>>;

export type FloodName = keyof typeof FLOODS;

export const FLOOD_NAMES = Object.keys(FLOODS) as readonly FloodName[];
