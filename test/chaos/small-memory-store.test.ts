import { setTimeout as wait } from 'node:timers/promises';
import { join } from 'node:path';
import t from 'tap';
import { ApiCaller } from '../support/api-caller.js';
import { memoryGroup } from '../support/memory-group.js';
import { spawnDaemon, type DaemonProcess } from '../support/process.js';
import { testFolder } from '../support/test-folder.js';

const MIB = 1024 * 1024;
/** Spans in the store before the export: two full segments; `npm run test:chaos` sets a million. */
const STORED = Number(process.env['JACKDAW_TEST_SPANS'] ?? 250_000);
const SPANS_OF_RUN = 50;
/** As many as a request may have. */
const SPANS_OF_REQUEST = 100;
/** 5000 spans a second. */
const LOAD_EVERY_MS = 20;
const LOADED_AT_LEAST = 50_000;
const SENDERS = 16;

// Filling the store takes a while.
t.setTimeout(0);

function id(kind: string, number: number): string {
  return `${kind}0000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
}

/** The body of a request with new runs. @param first number of the first span */
function bodyOf(first: number): string {
  const times = '"started_at":"2026-11-03T08:15:30.250Z","ended_at":"2026-11-03T08:15:31.500Z"';
  const runs = Array.from({ length: SPANS_OF_REQUEST / SPANS_OF_RUN }, (_, run) => {
    const start = first + run * SPANS_OF_RUN;
    const trace = `"trace_id":"${id('a', start)}"`;
    const texts = Array.from({ length: SPANS_OF_RUN }, (_, span) => {
      const tokens = '"model":"gpt-4o","input_tokens":100,"output_tokens":20,"total_tokens":120';
      const asked = `"input_data":{"question":"What is said in document ${start + span}?"}`;
      return `{"span_id":"${id('b', start + span)}",${trace},"type":"llm","name":"answer","status":"completed",${times},"duration_ms":1250,${tokens},${asked}}`;
    });
    return `{"trace":{${trace},"agent":"reader-${run % 10}","status":"completed","success":true,${times}},"spans":[${texts.join()}]}`;
  });
  return `{"traces":[${runs.join()}]}`;
}

/**
 * Sends new spans until there are enough.
 *
 * @param everyMs time from one request to the next
 * @returns the number of the next span
 */
async function send(
  daemon: DaemonProcess,
  first: number,
  everyMs: number,
  isEnough: (next: number) => boolean,
): Promise<number> {
  const post = async (body: string): Promise<void> => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${daemon.key}` };
    for (;;) {
      const response = await fetch(`${daemon.url}/api/v1/traces/batch`, { method: 'POST', headers, body });
      const text = await response.text();
      if (response.status === 200) return;
      if (response.status !== 503) throw new Error(`a request was answered ${response.status}: ${text}`);
      await wait(100);
    }
  };
  let next = first;
  let dueMs = performance.now();
  const sender = async (): Promise<void> => {
    while (!isEnough(next)) {
      const body = bodyOf(next);
      next += SPANS_OF_REQUEST;
      dueMs = Math.max(dueMs + everyMs, performance.now());
      await wait(Math.max(0, dueMs - performance.now()));
      await post(body);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return next;
}

void t.test('in 512 MiB, a store takes 5000 spans a second during an export', async (t) => {
  const group = memoryGroup(t, 512 * MIB);
  if (group === null) return;
  const directory = testFolder(t);
  const { through } = group;
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, group.used() / MIB)), 100);
  t.teardown(() => {
    clearInterval(watch);
  });
  const report = (what: string): void => {
    t.comment(`${what}: ${(group.used() / MIB).toFixed(0)} MiB, at most ${most.toFixed(0)} MiB`);
    most = 0;
  };
  const filled = await spawnDaemon(t, { directory, through });
  t.match(filled.stderr(), /"memory":"512MiB","source":"limit of the control group"/);
  t.notMatch(filled.stderr(), /may need/);
  const stored = await send(filled, 0, 0, (next) => next >= STORED);
  report('filled');
  t.strictSame(await filled.stop(), { code: 0, signal: null });

  const daemon = await spawnDaemon(t, { directory, through, key: filled.key });
  report('ready');
  let isExported = false;
  const api = new ApiCaller(daemon.url, daemon.key);
  const json = { directory: join(directory, 'export') };
  const exporting = api.call('POST', '/admin/export', { json }).finally(() => (isExported = true));
  const isEnough = (next: number): boolean => isExported && next - stored >= LOADED_AT_LEAST;
  const [exported, next] = await Promise.all([exporting, send(daemon, stored, LOAD_EVERY_MS, isEnough)]);
  report('loaded and exported');
  t.comment(`accepted during the export: ${next - stored} spans`);
  t.equal(exported.status, 200, JSON.stringify(exported.body));
  const { rows } = exported.body as { readonly rows: Readonly<Record<string, number>> };
  const spans = rows['telemetry/spans'] ?? 0;
  t.ok(spans >= stored && spans <= next, `${spans} spans are exported`);
  t.strictSame(await daemon.stop(), { code: 0, signal: null });
});
