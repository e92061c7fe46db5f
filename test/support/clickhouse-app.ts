/**
 * A small server for tests and benches: the ClickHouse engine of the package `chdb` behind the part of its HTTP interface that the
 * official client uses. It ends with the process that started it (`clickhouse-server.ts`).
 *
 * Not supported: more than one user with a password, replicas, clusters and sessions.
 */
import { mkdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Session } from 'chdb';
import { ClickHouseConnections } from './clickhouse-connections.js';
import { ClickHouseFaults, type ClickHouseFault } from './clickhouse-faults.js';
import { missingParam, readRequest, type ClickHouseRequest } from './clickhouse-requests.js';

const [directory = '', port = '0', password = ''] = process.argv.slice(2);
const connections = new ClickHouseConnections(directory);
const faults = new ClickHouseFaults();

/** HTTP statuses of ClickHouse error codes other than 500. */
const STATUSES: Readonly<Record<number, number>> = { 60: 404, 62: 400, 81: 404, 516: 403, 202: 503 };

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/ping') {
    response.end('Ok.\n');
    return;
  }
  const asked = await readRequest(request);
  const fault = faults.take(asked.sql);
  if (fault === 'cut') {
    response.destroy();
    return;
  }
  if (typeof fault === 'number') {
    refuse(response, fault, `Code: ${String(fault)}. DB::Exception: a fault of the test. (TEST_FAULT)`);
    return;
  }
  const sent = /^Basic (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  if (Buffer.from(sent, 'base64').toString() !== `default:${password}`) {
    const text = 'default: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)';
    refuse(response, 516, `Code: 516. DB::Exception: ${text}`);
    return;
  }
  const missing = missingParam(asked);
  if (missing !== undefined) {
    const text = `Substitution \`${missing}\` is not set. (UNKNOWN_QUERY_PARAMETER)`;
    refuse(response, 456, `Code: 456. DB::Exception: ${text}`);
    return;
  }
  const kind = fault ?? 'none';
  try {
    await connections.use(asked, async (session) => {
      if (asked.data === null) await select(session, asked, response, kind);
      else await insert(session, asked, asked.data, response, kind);
    });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (response.headersSent) response.destroy();
    else refuse(response, Number(/^Code: (\d+)/.exec(text)?.[1] ?? 1002), text);
  }
}

type Fault = Exclude<ClickHouseFault['kind'], number | 'cut'> | 'none';

/** Applies cutting faults after a statement. @returns whether there is nothing left to send */
function spoilt(response: ServerResponse, fault: Fault): boolean {
  if (fault === 'lost') response.destroy();
  return fault === 'lost' || fault === 'silent';
}

/** Rows being inserted: chDB ends a statement at the first empty line, so binary bodies go through a file. */
const inserts = join(directory, 'jackdaw-inserts');
mkdirSync(inserts, { recursive: true });
let numberedInserts = 0;

async function insert(
  session: Session,
  { sql, format }: ClickHouseRequest,
  data: Buffer,
  response: ServerResponse,
  fault: Fault,
): Promise<void> {
  const file = join(inserts, String(numberedInserts++));
  await writeFile(file, data);
  let rows: number;
  try {
    ({ rowsRead: rows } = await session.queryAsync(`${sql} FROM INFILE '${file}' FORMAT ${format}`));
  } finally {
    await rm(file);
  }
  if (spoilt(response, fault)) return;
  response.setHeader('X-ClickHouse-Summary', JSON.stringify({ written_rows: String(rows) }));
  if (fault === 'half') response.socket?.destroy();
  else response.end();
}

const ENDLESS = 'SELECT count() AS endless FROM system.numbers';
/** Statements so far that may have to be cancelled. */
let numbered = 0;

async function select(
  session: Session,
  { sql, format, wantsGzip, endsWithClient }: ClickHouseRequest,
  response: ServerResponse,
  fault: Fault,
): Promise<void> {
  response.setHeader('X-ClickHouse-Format', format);
  if (!/^\s*(WITH|SELECT|\()/i.test(sql)) {
    const answered = await session.queryAsync(sql, { format });
    if (!spoilt(response, fault)) response.end(answered.bytes());
    return;
  }
  // A disconnected client expects no response.
  if (endsWithClient && response.destroyed) return;
  // The engine does not report its own statement id.
  const name = `/* ${String(numbered++)} */`;
  const isGone = (): boolean => endsWithClient && response.destroyed && !response.writableFinished;
  const gone = (): void => {
    if (isGone()) connections.end(name);
  };
  response.once('close', gone);
  const statement = fault === 'endless' ? ENDLESS : sql;
  const stream = session.queryStream(`${name} ${statement}`, { format });
  const chunks = stream[Symbol.asyncIterator]();
  let fetched = chunks.next();
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (let next = await fetched; next.done !== true; next = await (fetched = chunks.next()))
      yield next.value.raw();
  }
  try {
    // An error before the first rows becomes an error response.
    await fetched;
    if (spoilt(response, fault)) return;
    const body = Readable.from(fault === 'half' ? firstHalf(bytes()) : bytes(), { objectMode: false });
    if (wantsGzip) {
      response.setHeader('Content-Encoding', 'gzip');
      await pipeline(body, createGzip({ level: 1 }), response);
    } else await pipeline(body, response);
  } finally {
    // After a disconnect: a connection can do nothing else before that.
    await fetched.catch(() => undefined);
    stream.cancel();
    // The engine releases a cancelled stream only at the next statement of its connection.
    if (isGone()) await session.queryAsync('SELECT 1');
  }
}

/** The part of a response before the connection is cut. */
async function* firstHalf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    yield chunk.subarray(0, Math.floor(chunk.length / 2));
    throw new Error('a fault of the test');
  }
}

function refuse(response: ServerResponse, code: number, text: string): void {
  response.writeHead(STATUSES[code] ?? 500, { 'X-ClickHouse-Exception-Code': String(code) });
  response.end(`${text}\n`);
}

/** Messages from the starting process. */
type Order = { readonly fault: ClickHouseFault } | { readonly clear: true };

process.on('message', (order: Order) => {
  if ('fault' in order) faults.add(order.fault);
  else faults.clear();
  process.send?.('done');
});
process.on('disconnect', () => process.exit());

const server = createServer(
  { keepAliveTimeout: 60_000, maxHeaderSize: 4 * 1024 * 1024 },
  (request, response) => {
    answer(request, response).catch(() => response.destroy());
  },
);
server.listen(Number(port), '127.0.0.1');
await once(server, 'listening');
const address = server.address();
process.send?.(typeof address === 'object' ? address?.port : 0);
