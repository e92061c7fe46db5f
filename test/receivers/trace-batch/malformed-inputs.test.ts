import { once } from 'node:events';
import t, { type Test } from 'tap';
import { startTestDaemon } from '../../support/daemon.js';
import { post } from '../../support/http-post.js';
import { malformedRequests } from '../../support/malformed-requests.js';
import { malformedTraces } from '../../support/malformed-traces.js';
import { oddTraces } from '../../support/odd-traces.js';
import { spawnDaemon, type DaemonProcess } from '../../support/process.js';
import { anItem } from '../../support/trace-batch.js';
import { TracesClient } from '../../support/traces-client.js';

const MIB = 1024 * 1024;
/** Memory growth limit of the daemon: a few of the largest accepted bodies, as bytes and values. */
const MAX_GROWTH_BYTES = 400 * MIB;

async function start(t: Test): Promise<{ readonly daemon: DaemonProcess; readonly client: TracesClient }> {
  const daemon = await spawnDaemon(t);
  return { daemon, client: new TracesClient(daemon.url, daemon.key) };
}

/** The resident memory of the daemon in bytes. */
async function memoryOf({ metricsUrl }: DaemonProcess): Promise<number> {
  const { body } = await post(`${metricsUrl}/metrics`, { method: 'GET' });
  return Number(/^jackdaw_process_memory_rss_bytes (\S+)$/m.exec(String(body))?.[1]);
}

const goodBody = (): string => JSON.stringify({ traces: [anItem()] });

void t.test(
  'malformed requests get their documented response, and the next valid one is accepted',
  async (t) => {
    const { daemon, client } = await start(t);
    const reader = `Bearer ${await client.createKey(['read'])}`;
    await client.send({ body: goodBody() });
    const before = await memoryOf(daemon);
    let most = before;
    for (const { name, sent, status, code, message, field } of malformedRequests(reader)) {
      const answer = await client.send(sent());
      t.equal(answer.status, status, name);
      t.equal(answer.headers['content-type'], 'application/problem+json', name);
      t.match(answer.body, { type: 'about:blank', status, code, title: String, detail: String }, name);
      if (message) t.match(JSON.stringify(answer.body), message, name);
      if (field !== undefined) t.match(answer.body, { errors: [{ field, message: String }] }, name);
      const next = await client.send({ body: goodBody() });
      t.match(next, { status: 200, body: { accepted: 1, rejected: 0 } }, `${name}: the next is accepted`);
      most = Math.max(most, await memoryOf(daemon));
    }
    t.ok(most - before < MAX_GROWTH_BYTES, `memory grew by ${Math.round((most - before) / MIB)} MiB`);
  },
);

void t.test('rejects malformed traces by name and accepts their neighbours', async (t) => {
  const { client } = await start(t);
  for (const { name, item, error } of malformedTraces()) {
    const body = `{"traces":[${JSON.stringify(anItem())},${item()},${JSON.stringify(anItem())}]}`;
    const answer = await client.send({ body });
    const expected = { accepted: 2, rejected: 1, errors: [{ trace_id: String, error }] };
    t.match(answer, { status: 200, body: expected }, name);
  }
});

void t.test('accepts odd traces', async (t) => {
  const { client } = await start(t);
  for (const { name, item } of oddTraces()) {
    const answer = await client.send({ body: `{"traces":[${item()}]}` });
    t.match(answer, { status: 200, body: { accepted: 1, rejected: 0, errors: [] } }, name);
  }
  const marked = await client.send({ body: `\ufeff${goodBody()}` });
  t.match(marked, { status: 200, body: { accepted: 1 } }, 'a byte order mark');
  for (const type of [
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json; charset=utf8',
    'application/json;v=1',
  ])
    t.match(
      await client.send({ headers: { 'content-type': type }, body: goodBody() }),
      { status: 200, body: { accepted: 1 } },
      type,
    );
  t.notOk('polluted' in {});
});

void t.test('a stalled body times out after the configured time', async (t) => {
  const { url, key } = await startTestDaemon(t, {
    overlay: 'receivers: { trace_batch: { request_timeout: 100ms } }',
  });
  const end = new AbortController();
  async function* stalled(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{"traces":');
    await once(end.signal, 'abort');
  }
  const answer = await new TracesClient(url, key).send({ body: stalled() });
  end.abort();
  t.match(answer, { status: 408, body: { code: 'request_timeout', status: 408 } });
});
