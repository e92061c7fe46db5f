import t from 'tap';
import type { JsonObject } from '../../../src/signal/attributes.js';
import type { LogRecord } from '../../../src/signal/log-record.js';
import {
  loggedScore,
  scoreIn,
  scoreRecord,
  type NewScore,
  type ScoreRecord,
} from '../../../src/signal/score.js';
import { successFromProcessor } from '../../../src/processors/success-from/factory.js';
import { aLog } from '../../support/log-records.js';
import { processorOf } from '../../support/processors.js';
import { aHeader, aSpanRecord, NOON } from '../../support/run-records.js';

const TRACE = 'a287bb31-e317-4336-10d8-827617471140';
const SPAN = 'b2cb5ab1-0000-4000-8000-827617471140';
const CONFIG = '{ score: helpfulness, at_least: 0.7 }';

function sent(score: Partial<NewScore>): LogRecord {
  return scoreRecord({ trace_id: TRACE, name: 'helpfulness', at: NOON, ...score }, 0, NOON + 5);
}

function scoresIn(records: readonly LogRecord[]): (ScoreRecord | null)[] {
  return records.map((record) => loggedScore(record, NOON + 5));
}

void t.test('a score decides by its value, else by its label', async (t) => {
  const cases: readonly (readonly [Partial<NewScore>, number | null])[] = [
    [{ value: 0.7 }, 1],
    [{ value: 0.69 }, 0],
    [{ value: 0.69, label: 'pass' }, 0],
    [{ label: 'pass' }, 1],
    [{ label: 'Failed' }, 0],
    [{ label: 'polite' }, null],
    [{ comment: 'no result' }, null],
    [{ value: 1, span_id: SPAN }, 1],
    [{ value: 1, name: 'Helpfulness' }, null],
    [{ value: 1, trace_id: null, session_id: 's' }, null],
    [{ value: 1, trace_id: null, response_id: 'r' }, null],
  ];
  for (const [score, value] of cases) {
    const logs = processorOf(successFromProcessor, 'logs', CONFIG);
    const record = sent(score);
    const receipt = await logs.consume([record], { receivedAt: NOON + 5 });
    t.strictSame(receipt, { accepted: 1, refused: [] });
    const [first, ...added] = logs.passed.flatMap(({ items }) => items);
    t.equal(first, record);
    const judged = { trace_id: TRACE, span_id: score.span_id ?? null, label: score.label ?? null, at: NOON };
    const expected = { name: 'success', value, ...judged, source: 'api' };
    t.match(scoresIn(added), value === null ? [] : [expected], JSON.stringify(score));
    t.equal(added.length, value === null ? 0 : 1);
  }
});

void t.test('a range of values means success, open at the side that is not set', async (t) => {
  for (const [range, value, success] of [
    ['at_most: 0.2', 0.2, 1],
    ['at_most: 0.2', 0.21, 0],
    ['at_most: 0.2', -1, 1],
    ['at_least: 2, at_most: 4', 1, 0],
    ['at_least: 2, at_most: 4', 4, 1],
    ['at_least: 2, at_most: 4', 5, 0],
    ['', 0.5, 1],
    ['', 0.4, 0],
  ] as const) {
    const logs = processorOf(successFromProcessor, 'logs', `{ score: helpfulness, ${range} }`);
    await logs.consume([sent({ value })]);
    t.match(scoresIn(logs.passed.flatMap(({ items }) => items))[1], { value: success }, `${value}, ${range}`);
  }
  const empty = '{ score: tone, at_least: 1, at_most: 0.5 }';
  t.throws(() => processorOf(successFromProcessor, 'logs', empty), /must not be less than at_least/);
});

void t.test('a repeat gives the same score, and its refusal is not of the sender', async (t) => {
  const logs = processorOf(successFromProcessor, 'logs', CONFIG, async ({ items }) =>
    Promise.resolve({
      accepted: items.length - 2,
      refused: [
        { index: 1, reason: 'no' },
        { index: 2, reason: 'no' },
      ],
    }),
  );
  for (let i = 0; i < 2; i++) {
    const receipt = await logs.consume([sent({ value: 1 }), aLog()], { receivedAt: NOON + i });
    t.strictSame(receipt, { accepted: 1, refused: [{ index: 1, reason: 'no' }] });
  }
  const ids = logs.passed.map(({ items }) => scoresIn(items)[2]?.id);
  t.match(ids[0], /^[0-9a-f-]{36}$/);
  t.equal(ids[0], ids[1]);
});

void t.test('scores of spans decide, too', async (t) => {
  const traces = processorOf(successFromProcessor, 'traces', CONFIG);
  const attributes: JsonObject = {
    'gen_ai.evaluation.name': 'helpfulness',
    'gen_ai.evaluation.score.value': 0.2,
  };
  const score = scoreIn(attributes, { trace_id: TRACE, span_id: SPAN, at: NOON });
  const spans = [aSpanRecord(TRACE, { span_id: SPAN, scores: score && [score] }), aSpanRecord(TRACE)];
  await traces.consume([{ trace: aHeader({ trace_id: TRACE }), spans }]);
  const passed = traces.passed.flatMap(({ items }) => items.flatMap(({ spans }) => spans));
  t.match(passed[0]?.scores, [
    { name: 'helpfulness', value: 0.2 },
    { name: 'success', value: 0, trace_id: TRACE, span_id: SPAN, comment: 'helpfulness: 0.2' },
  ]);
  t.equal(passed[1]?.scores, null);
});

void t.test('without a score it changes nothing, and success decides anyway', async (t) => {
  const logs = processorOf(successFromProcessor, 'logs', '{}');
  await logs.consume([sent({ value: 1 })]);
  t.equal(logs.passed[0]?.items.length, 1);
  t.throws(() => processorOf(successFromProcessor, 'logs', '{ score: Success }'), /must not be success/);
});
