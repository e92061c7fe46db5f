import { randomUUID, randomBytes } from 'node:crypto';
import { request, type IncomingHttpHeaders } from 'node:http';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { connect as connectSocket, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Pool } from 'undici';
import { post } from './post.js';

/** The daemon to flood. Sent to the flood process as JSON. */
export interface FloodTarget {
  /** The HTTP listener: `http://127.0.0.1:40123`. */
  readonly url: string;
  /** OTLP over gRPC: `grpc://127.0.0.1:40124`. */
  readonly grpcUrl: string;
  /** API key of the flooding user. */
  readonly key: string;
}

/** The load of one careless or hostile client. */
export interface Flood {
  /** Title in the table of results. */
  readonly title: string;
  /** Runs until `stop` aborts or everything is sent. */
  run(target: FloodTarget, tally: Tally, stop: AbortSignal): Promise<void>;
}

/** Counts requests and responses of a flood by name. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string, count = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }

  /** All counts in the order of their first use: `answered 200: 3000, ECONNRESET: 2`. */
  text(): string {
    return [...this.#counts].map(([name, count]) => `${name}: ${count}`).join(', ');
  }
}

const MIB = 2 ** 20;
/** Source address of floods. The measured user has another one, because limits per address apply. */
const FLOOD_ADDRESS = '127.0.0.2';

const POST_TIMEOUT_MS = 60_000;
/** Pause after a failed request: shorter than a well-behaved client would wait. */
const RETRY_PAUSE_MS = 20;

interface FloodRequest {
  readonly path: string;
  readonly body: Buffer;
  /** In addition to the key, and in place of the content type of JSON. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Posts requests in a closed loop until there are none left or `stop` aborts.
 *
 * @param next returns the next request, or null at the end
 */
async function postAll(
  { url, key }: FloodTarget,
  connections: number,
  next: () => FloodRequest | null,
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
      const { status, failure } = await post(
        pool,
        request.path,
        { ...headers, ...request.headers },
        request.body,
      );
      tally.add(failure ?? `answered ${status}`);
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  await pool.destroy();
}

const AGENTS = 300_000;
const RUNS_PER_REQUEST = 100;
const NEW_AGENT_CONNECTIONS = 16;

/** Every run has a new agent name, as if a program put an order number into it. */
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
    await postAll(target, NEW_AGENT_CONNECTIONS, next, { tally, stop });
    tally.add('names sent', agents);
  },
};

const TRACE_SPANS = 1_000_000;
const SPANS_PER_REQUEST = 500;
const TRACE_CONNECTIONS = 4;

/** A trace that never ends, as if all processes of a server inherited one `TRACEPARENT`. */
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

const CONCURRENT_READS = 50;
const DROPPED_AFTER_MS = 200;
const PAUSE_MS = 800;
/** Each reads all data of the user. */
const PATHS = [
  '/api/v1/dashboard/logs/search?query=%22nothing%20is%20left%22',
  '/api/v1/dashboard/logs/search?query=%22is%20left%22&offset=100000',
  '/api/v1/dashboard/traces?query=nowhere%20to%20be%20found',
  '/api/v1/dashboard/models',
];

/** A dashboard with fifty panels that is closed before any response, and opened again. */
const droppedReads: Flood = {
  title: `${CONCURRENT_READS} expensive reads, dropped`,
  async run({ url, key }, tally, stop) {
    while (!stop.aborted) {
      const requests = Array.from({ length: CONCURRENT_READS }, (_, number) => {
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
const SOCKET_INTERVAL_MS = 1000;
const MANY_REQUESTS = 50;

/** What a socket sends first. Then it sends a byte per second, except readers. */
const KINDS: readonly ((target: FloodTarget) => { readonly name: string; readonly head: string })[] = [
  () => ({ name: 'heads', head: 'GET /api/v1/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ' }),
  ({ key }) => ({
    name: 'bodies',
    head: `POST /api/v1/traces/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{`,
  }),
  // Requests whose responses are never read.
  () => ({
    name: 'readers',
    head: 'GET /api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(MANY_REQUESTS),
  }),
];

/** Slow sockets that are opened again when the daemon closes them. */
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
        open.set(socket, kind.name !== 'readers');
        socket.once('connect', () => {
          tally.add(`${kind.name} opened`);
        });
        socket.once('close', () => {
          if (open.delete(socket)) tally.add(`${kind.name} closed`);
        });
      }
      await sleep(SOCKET_INTERVAL_MS);
      for (const [socket, isSending] of open) if (isSending) socket.write('x');
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
  // Responses stay in the kernel's buffers.
  socket.pause();
  socket.write(head);
  return socket;
}

const SESSIONS = 10;
const CALLS_PER_SESSION = 20;
const CALL_INTERVAL_MS = 1000;
const PREFIX_BYTES = 5;
const EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

/** gRPC calls that never end: half send most of a message, the others one that gzip makes small. */
const parkedCalls: Flood = {
  title: `${SESSIONS * CALLS_PER_SESSION} parked gRPC calls`,
  async run(target, tally, stop) {
    const partial = frame(Buffer.alloc(4 * MIB - 1024), false).subarray(0, 3 * MIB);
    const compressed = frame(gzipSync(Buffer.alloc(4 * MIB - 1024)), true);
    const sessions = new Set<ClientHttp2Session>();
    while (!stop.aborted) {
      while (sessions.size < SESSIONS) {
        const session = openCalls(target, [partial, compressed], tally);
        sessions.add(session);
        session.once('close', () => sessions.delete(session));
      }
      await sleep(CALL_INTERVAL_MS);
    }
    for (const session of sessions) session.destroy();
  },
};

function openCalls(
  { grpcUrl, key }: FloodTarget,
  messages: readonly Buffer[],
  tally: Tally,
): ClientHttp2Session {
  const { host, hostname, port } = new URL(grpcUrl);
  const session = connectHttp2(`http://${host}`, {
    createConnection: () =>
      connectSocket({ host: hostname, port: Number(port), localAddress: FLOOD_ADDRESS }),
  });
  session.on('error', () => {
    tally.add('failed connections');
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
    tally.add('started');
    call.on('error', () => undefined);
    call.on('response', (headers) => {
      const status = headers['grpc-status'];
      tally.add(status === undefined ? 'response headers' : `answered ${String(status)}`);
    });
    call.on('trailers', (trailers: IncomingHttpHeaders) => {
      tally.add(`ended ${String(trailers['grpc-status'])}`);
    });
    call.resume();
    call.write(messages[number % messages.length]);
  }
  return session;
}

/** Frames a gRPC message: compression flag, length, bytes. */
function frame(message: Buffer, isCompressed: boolean): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt8(isCompressed ? 1 : 0, 0);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

const JSON_CONNECTIONS = 8;

/** JSON bodies that are expensive to parse, on routes with small and large limits. */
const jsonBombs: Flood = {
  title: 'deep and wide JSON',
  async run(target, tally, stop) {
    const deep = (bytes: number) => Buffer.from('['.repeat(bytes));
    const nested = (depth: number) => Buffer.from(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
    const wide = (bytes: number) => Buffer.from(`[${'{},'.repeat(bytes / 3)}{}]`);
    const requests = [
      { path: '/api/v1/alerts', body: wide(MIB - 1024) },
      { path: '/api/v1/dashboard/prompts/', body: wide(8 * MIB) },
      { path: '/api/v1/traces/batch', body: wide(8 * MIB) },
      { path: '/api/v1/traces/batch', body: deep(4 * MIB) },
      { path: '/api/v1/traces/batch', body: nested(40_000) },
      { path: '/v1/traces', body: wide(16 * MIB) },
      { path: '/v1/logs', body: nested(40_000) },
    ];
    let sent = 0;
    const next = () => requests[sent++ % requests.length] ?? null;
    await postAll(target, JSON_CONNECTIONS, next, { tally, stop });
  },
};

const COMPRESSED_CONNECTIONS = 2;
const EMPTY_RECORDS = 500_000;
const JSON_RECORDS = 1_000_000;
const BLANKS = 63 * MIB;
const NUMBERS = 32_000_000;
const LONG_BODIES = 8;
/** The largest block of zstd. */
const ZSTD_BLOCK = 128 * 1024;
const ZSTD_RAW = 0;
const ZSTD_REPEATED = 1;

/** Small bodies that are large or expensive once they are inflated: the inputs of a security review. */
const compressed: Flood = {
  title: 'kilobytes that inflate to megabytes',
  async run(target, tally, stop) {
    const json = (text: string): Buffer => gzipSync(Buffer.from(text));
    const logs = (records: string): string =>
      `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${records}]}]}]}`;
    const repeated = (item: string, count: number): string => `${`${item},`.repeat(count - 1)}${item}`;
    const gzip = { 'content-encoding': 'gzip' };
    const scopeLogs = lengthDelimited(2, Buffer.from([0x12, 0]), EMPTY_RECORDS);
    const histogram = `{"bucketCounts":[${repeated('1', NUMBERS)}]}`;
    const requests: readonly FloodRequest[] = [
      {
        path: '/v1/logs',
        body: gzipSync(lengthDelimited(1, scopeLogs, 1)),
        headers: { ...gzip, 'content-type': 'application/x-protobuf' },
      },
      {
        path: '/v1/logs',
        body: json(logs(repeated('{"timeUnixNano":"1768478400000000000"}', JSON_RECORDS))),
        headers: gzip,
      },
      {
        path: '/v1/logs',
        body: zstdBlanks('{"resourceLogs":[', BLANKS, ']}'),
        headers: { 'content-encoding': 'zstd' },
      },
      {
        path: '/v1/metrics',
        body: json(
          `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","histogram":{"dataPoints":[${histogram}]}}]}]}]}`,
        ),
        headers: gzip,
      },
      {
        path: '/v1/logs',
        body: json(logs(repeated(`{"body":{"stringValue":"${'4 '.repeat(MIB / 2)}"}}`, LONG_BODIES))),
        headers: gzip,
      },
    ];
    let sent = 0;
    const next = () => requests[sent++ % requests.length] ?? null;
    await postAll(target, COMPRESSED_CONNECTIONS, next, { tally, stop });
  },
};

/** A field of a protobuf message whose value repeats `part`. */
function lengthDelimited(field: number, part: Buffer, count: number): Buffer {
  const length = [];
  let rest = part.length * count;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) length.push((rest % 0x80) | 0x80);
  return Buffer.concat([
    Buffer.from([(field << 3) | 2, ...length, rest]),
    Buffer.alloc(part.length * count, part),
  ]);
}

/** A frame of zstd (RFC 8878) that repeats a blank between two texts. Node 20 cannot write zstd. */
function zstdBlanks(before: string, blanks: number, after: string): Buffer {
  const block = (type: number, size: number, content: Buffer, isLast = false): Buffer => {
    const header = Buffer.alloc(3);
    header.writeUIntLE(Number(isLast) | (type << 1) | (size << 3), 0, 3);
    return Buffer.concat([header, content]);
  };
  const text = (content: string, isLast: boolean): Buffer =>
    block(ZSTD_RAW, content.length, Buffer.from(content), isLast);
  return Buffer.concat([
    // Magic number, no options, a window of 128 KiB.
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38]),
    text(before, false),
    ...Array.from({ length: Math.ceil(blanks / ZSTD_BLOCK) }, () =>
      block(ZSTD_REPEATED, ZSTD_BLOCK, Buffer.from(' ')),
    ),
    text(after, true),
  ]);
}

/** All floods by their name in `--floods`, in the default order. */
export const FLOODS = {
  agents: newAgents,
  trace: longTrace,
  reads: droppedReads,
  sockets: slowSockets,
  grpc: parkedCalls,
  json: jsonBombs,
  compressed,
} as const satisfies Readonly<Record<string, Flood>>;

export type FloodName = keyof typeof FLOODS;

export const FLOOD_NAMES = Object.keys(FLOODS) as readonly FloodName[];
