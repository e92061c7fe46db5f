import t from 'tap';
import {
  goesOn,
  isFiltered,
  logFilter,
  LOGS_STATE,
  parsePlace,
  printPlace,
} from '../../src/ui/pages/logs/logs-state.js';
import { arrived, joined, letIn, NO_TAIL, withLoss, type Tail } from '../../src/ui/pages/logs/tail.js';
import { parseState } from '../../src/ui/state/codec.js';

const items = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ id: String(from + i) }));
const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

void t.test('what comes stands first; while one reads it waits, and what has no room is counted', (t) => {
  let tail: Tail<{ readonly id: string }> = arrived(NO_TAIL, items(0, 2), false);
  t.same(idsOf(tail.shown), ['1', '0']);
  tail = arrived(tail, items(2, 3), true);
  t.same([idsOf(tail.shown), idsOf(tail.waiting)], [['1', '0'], ['2']]);
  tail = arrived(tail, items(3, 1503), true);
  t.equal(tail.waiting.length, 1000);
  t.equal(tail.lost, 501, 'the oldest of those that wait');
  t.equal(tail.waiting[0]?.id, '1502');
  tail = letIn(withLoss(tail, 7));
  t.same([tail.shown.length, tail.waiting.length, tail.lost], [1002, 0, 508]);
  t.equal(letIn(tail), tail, 'nothing waits');
  t.equal(arrived(tail, items(2000, 5000), false).shown.length, 2000);
  t.match(withLoss(tail, null), { lost: 508, hasUnknownLoss: true });
  t.same(idsOf(joined(arrived(NO_TAIL, items(0, 3), false), items(0, 2))), ['2', '0', '1']);
  t.end();
});

void t.test('a link says what is searched for, and which record is read', (t) => {
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
