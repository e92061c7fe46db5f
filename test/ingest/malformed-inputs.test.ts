import t, { type Test } from 'tap';
import { validationProcessor } from '../../src/processors/validation/factory.js';
import { componentSettings } from '../support/component-settings.js';
import { malformedRequests } from '../support/malformed-requests.js';
import { malformedTraces } from '../support/malformed-traces.js';
import { oddTraces } from '../support/odd-traces.js';
import { anItem } from '../support/trace-batch.js';
import {
  READER_KEY,
  startTraceBatchService,
  type TraceBatchService,
} from '../support/trace-batch-service.js';

const MIB = 1024 * 1024;
/** What the process may grow by: a few of the largest bodies, at their sender and at their receiver. */
const MAX_GROWTH_BYTES = 768 * MIB;

async function start(t: Test): Promise<TraceBatchService> {
  const validation = validationProcessor.create({
    ...componentSettings('validation'),
    config: {
      max_name_length: 1024,
      max_text_length: 65_536,
      max_payload_depth: 64,
      max_spans_per_trace: 10_000,
    },
    signal: 'traces',
    next: { consume: async (batch) => ({ accepted: batch.items.length, refused: [] }) },
  });
  return startTraceBatchService(t, validation);
}

const goodBody = (): string => JSON.stringify({ traces: [anItem()] });

void t.test('malformed requests get their documented answer, and the next good one is taken', async (t) => {
  const service = await start(t);
  await service.send({ body: goodBody() });
  const before = process.memoryUsage.rss();
  let most = before;
  for (const { name, sent, status, code, says, field } of malformedRequests(`Bearer ${READER_KEY}`)) {
    const answer = await service.send(sent());
    t.equal(answer.status, status, name);
    t.equal(answer.headers['content-type'], 'application/problem+json', name);
    t.match(answer.body, { type: 'about:blank', status, code, title: String, detail: String }, name);
    if (says) t.match(JSON.stringify(answer.body), says, name);
    if (field !== undefined) t.match(answer.body, { errors: [{ field, message: String }] }, name);
    const next = await service.send({ body: goodBody() });
    t.match(next, { status: 200, body: { accepted: 1, rejected: 0 } }, `${name}: the next is taken`);
    most = Math.max(most, process.memoryUsage.rss());
  }
  t.ok(most - before < MAX_GROWTH_BYTES, `memory grew by ${Math.round((most - before) / MIB)} MiB`);
});

void t.test('malformed traces are rejected by name, and their neighbours are taken', async (t) => {
  const service = await start(t);
  for (const { name, item, error } of malformedTraces()) {
    const body = `{"traces":[${JSON.stringify(anItem())},${item()},${JSON.stringify(anItem())}]}`;
    const answer = await service.send({ body });
    const expected = { accepted: 2, rejected: 1, errors: [{ trace_id: String, error }] };
    t.match(answer, { status: 200, body: expected }, name);
  }
});

void t.test('odd traces are taken', async (t) => {
  const service = await start(t);
  for (const { name, item } of oddTraces()) {
    const answer = await service.send({ body: `{"traces":[${item()}]}` });
    t.match(answer, { status: 200, body: { accepted: 1, rejected: 0, errors: [] } }, name);
  }
  const marked = await service.send({ body: `\ufeff${goodBody()}` });
  t.match(marked, { status: 200, body: { accepted: 1 } }, 'a byte order mark');
  for (const type of [
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json;v=1',
  ])
    t.match(
      await service.send({ headers: { 'content-type': type }, body: goodBody() }),
      { status: 200, body: { accepted: 1 } },
      type,
    );
  t.notOk('polluted' in {});
});
