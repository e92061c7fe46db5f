import t from 'tap';
import { loggedScoreText as apiText } from '../../src/api/support/scores.js';
import {
  goesOn,
  isFiltered,
  logFilter,
  LOGS_STATE,
  parsePlace,
  printPlace,
} from '../../src/ui/pages/logs/logs-state.js';
import { loggedScoreText } from '../../src/ui/pages/logs/logged-score.js';
import { extentOf } from '../../src/ui/pages/metrics/extent.js';
import {
  aggregationOf,
  namesOf,
  pairsOf,
  printPairs,
  stepTimes,
  valuesOf,
} from '../../src/ui/pages/metrics/metrics-state.js';
import { formatMeasured } from '../../src/ui/format/number.js';
import { arrived, joined, letIn, NO_TAIL, withLoss, type Tail } from '../../src/ui/live/tail.js';
import { parseState } from '../../src/ui/state/codec.js';

const EVALUATION = 'gen_ai.evaluation.result';
const items = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ id: String(from + i) }));
const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

void t.test('a logged score has the same text as at the command line', (t) => {
  const textsOf = (score: Readonly<Record<string, string | number | boolean>>, event_name = EVALUATION) => {
    const attributes = Object.fromEntries(
      Object.entries(score).map(([key, value]) => [
        key === 'error.type' ? key : `gen_ai.evaluation.${key}`,
        value,
      ]),
    );
    const record = { event_name, attributes, trace_id: 'a', span_id: null };
    return [loggedScoreText(record), apiText(record)];
  };
  const same = (text: string | undefined) => [text, text];
  const score = { name: 'tone', 'score.value': 0.123456, 'score.label': 'polite', explanation: 'Kind.' };
  t.same(textsOf(score), same('score tone 0.1235 polite: Kind.'));
  t.same(textsOf({ name: 'tone', 'score.value': 'good' }), same('score tone good'));
  t.same(textsOf({ name: 'done', 'score.value': true }), same('score done 1'));
  t.same(textsOf({ name: 'done', 'error.type': 'timeout' }), same('score done: error timeout'));
  t.same(textsOf({ name: 'done' }), same(undefined));
  t.same(textsOf(score, 'other'), same(undefined));
  t.end();
});

void t.test('new records come first; while reading they wait, and dropped ones are counted', (t) => {
  let tail: Tail<{ readonly id: string }> = arrived(NO_TAIL, items(0, 2), false);
  t.same(idsOf(tail.shown), ['1', '0']);
  tail = arrived(tail, items(2, 3), true);
  t.same([idsOf(tail.shown), idsOf(tail.waiting)], [['1', '0'], ['2']]);
  tail = arrived(tail, items(3, 1503), true);
  t.equal(tail.waiting.length, 1000);
  t.equal(tail.lost, 501, 'the oldest waiting records');
  t.equal(tail.waiting[0]?.id, '1502');
  tail = letIn(withLoss(tail, 7));
  t.same([tail.shown.length, tail.waiting.length, tail.lost], [1002, 0, 508]);
  t.equal(letIn(tail), tail, 'nothing waits');
  t.equal(arrived(tail, items(2000, 5000), false).shown.length, 2000);
  t.match(withLoss(tail, null), { lost: 508, hasUnknownLoss: true });
  t.same(idsOf(joined(arrived(NO_TAIL, items(0, 3), false), items(0, 2))), ['2', '0', '1']);
  t.end();
});

void t.test('a link contains the search and the open record', (t) => {
  const state = parseState(LOGS_STATE, 'q=a&severity=error&service=s&trace=t&span=p&live=1&range=7d');
  t.same(logFilter(state), { query: 'a', severity: 'error', service_name: 's', trace_id: 't', span_id: 'p' });
  t.same(logFilter(parseState(LOGS_STATE, 'span=p')), {}, 'a span is found in its run');
  t.notOk(isFiltered(parseState(LOGS_STATE, 'severity=bad&range=x')));
  t.ok(goesOn('24h'));
  t.notOk(goesOn('2026-11-24T00:00:00.000Z..2026-11-25T00:00:00.000Z'));
  const place = { timestamp: '2026-11-24T00:00:00.000001Z', id: 'x' };
  t.same(parsePlace(printPlace(place)), place);
  t.equal(parsePlace(''), undefined);
  t.equal(parsePlace('yesterday~x'), undefined);
  t.end();
});

void t.test('series are named by the labels that differ', (t) => {
  const series = (labels: Record<string, string>) => ({ labels, points: [[60_000, 3] as const] });
  t.same(namesOf([series({ a: '1', b: 'x' }), series({ a: '1', b: 'y' })]), ['b=x', 'b=y']);
  t.same(namesOf([series({ a: '1' })]), ['a=1']);
  t.same(namesOf([series({})]), ['all']);
  const times = stepTimes({ step: 60, start_time: '1970-01-01T00:00:30Z', end_time: '1970-01-01T00:02:30Z' });
  t.same(times, [0, 60_000, 120_000]);
  t.same(valuesOf(times, series({})), [null, 3, null]);
  t.same(extentOf([null, 2, -1]), { least: -1, most: 2 });
  t.same(extentOf([null]), { least: 0, most: 0 });
  t.end();
});

void t.test('a link requests only aggregations of the metric type', (t) => {
  t.equal(aggregationOf('gauge', 'rate'), 'avg');
  t.equal(aggregationOf('sum', ''), 'rate');
  t.equal(aggregationOf('histogram', 'p99'), 'p99');
  t.same(pairsOf('{"a":"b","c":1}'), { a: 'b' });
  t.same(pairsOf('[1'), {});
  t.equal(printPairs({}), '');
  t.same(pairsOf(printPairs({ 'x"y': 'z' })), { 'x"y': 'z' });
  t.equal(formatMeasured(1536, 'By', true), '1.5 KB/s');
  t.equal(formatMeasured(1.23456, '{request}'), '1.235 requests');
  t.equal(formatMeasured(1, '{request}'), '1 request');
  t.equal(formatMeasured(-2, '1'), '-2');
  t.end();
});
