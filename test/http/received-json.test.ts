import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import type { Route } from '../../src/component/http.js';
import { readJsonBody } from '../../src/http/json-body.js';
import { StructureScan } from '../../src/http/json-structure.js';
import { ENGINES, startListener } from '../support/http-listener.js';
import { post, type Answer, type Sent } from '../support/http-post.js';
import { KEY } from '../support/known-keys.js';
import { startOtlpService } from '../support/otlp-service.js';
import { startTraceBatchService } from '../support/trace-batch-service.js';

const MIB = 1024 * 1024;
const HEADERS = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
/** Valid, so that only the structure limit rejects it. */
const BOMB = '['.repeat(1001) + ']'.repeat(1001);
const DEEP = /nests deeper than 1000 levels/;

const MANAGEMENT: Route = {
  method: 'POST',
  path: '/',
  maxBodyBytes: 8 * MIB,
  handle: async (request) => ({ status: 200, body: JSON.stringify(await readJsonBody(request)) }),
};

/** Text that gzip compresses a few times, like real bodies. */
function padding(size: number): string {
  return Array.from({ length: Math.ceil(size / 8) }, (_, i) => String(i).padStart(8, '0')).join('');
}

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
}

/** The ways in which a body arrives, in proportion to their use. */
const WAYS: Readonly<Record<string, (text: string) => Sent>> = {
  whole: (body) => ({ headers: HEADERS, body }),
  'in chunks': (text) => ({ headers: HEADERS, body: inPieces(Buffer.from(text)) }),
  compressed: (text) => ({ headers: { ...HEADERS, 'content-encoding': 'gzip' }, body: gzipSync(text) }),
  'compressed, in chunks': (text) => ({
    headers: { ...HEADERS, 'content-encoding': 'gzip' },
    body: inPieces(gzipSync(text)),
  }),
};

type Post = (sent: Sent) => Promise<Answer>;

/** Route classes with the size above which bodies are measured while arriving, and their error statuses. */
async function routeClasses(
  t: Test,
): Promise<
  readonly { readonly name: string; readonly send: Post; readonly large: number; readonly status: number }[]
> {
  const management = await Promise.all(
    ENGINES.map(async (engine) => {
      const { url } = await startListener(t, engine, [MANAGEMENT]);
      const send: Post = (sent) => post(url, sent);
      return { name: `management, ${engine}`, send, large: 10_000, status: 422 };
    }),
  );
  const takeAll = { consume: async () => ({ accepted: 0, refused: [] }) };
  const batch = await startTraceBatchService(t, takeAll);
  const otlp = await startOtlpService(t, { traces: takeAll });
  return [
    ...management,
    { name: 'batches', send: (sent) => batch.send(sent), large: MIB, status: 422 },
    { name: 'OTLP', send: (sent) => post(`${otlp.url}/v1/traces`, sent), large: 4.5 * MIB, status: 413 },
  ];
}

/** @returns the bytes measured since the last call */
function watchScans(t: Test): () => number {
  let scanned = 0;
  const push = Object.getOwnPropertyDescriptor(StructureScan.prototype, 'push')?.value as (
    this: StructureScan,
    bytes: Uint8Array,
  ) => string | undefined;
  t.intercept(StructureScan.prototype, 'push', {
    value(this: StructureScan, bytes: Uint8Array) {
      scanned += bytes.length;
      return push.call(this, bytes);
    },
  });
  return () => {
    const since = scanned;
    scanned = 0;
    return since;
  };
}

void t.test('every route class rejects a structure bomb, however it arrives', async (t) => {
  for (const { name, send, large, status } of await routeClasses(t)) {
    for (const [way, sentAs] of Object.entries(WAYS)) {
      for (const [size, text] of [
        ['small', BOMB],
        ['large', `["${padding(large)}",${BOMB}]`],
      ] as const) {
        const answer = await send(sentAs(text));
        t.equal(answer.status, status, `${name}: ${size}, ${way}`);
        t.match(JSON.stringify(answer.body), DEEP);
      }
    }
  }
});

void t.test('an accepted body is measured once', async (t) => {
  const scanned = watchScans(t);
  for (const { name, send, large } of await routeClasses(t)) {
    const text = `{"a":"${padding(large)}","b":[{}]}`;
    for (const [way, sentAs] of Object.entries(WAYS)) {
      t.notMatch(JSON.stringify((await send(sentAs(text))).body), DEEP);
      t.equal(scanned(), text.length, `${name}: ${way}`);
    }
    const crowded = `{"a":[${'[],'.repeat(1100)}1]}`;
    await send({ headers: HEADERS, body: crowded });
    t.equal(scanned(), crowded.length, `${name}: one with many brackets`);
    await send({ headers: HEADERS, body: '{"a":1}' });
    t.equal(scanned(), 0, `${name}: one that cannot be excessive`);
  }
});
