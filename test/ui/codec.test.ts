import fc from 'fast-check';
import t from 'tap';
import { flag, integer, oneOf, parseState, printState, text } from '../../src/ui/state/codec.js';
import { rangeField, recordZoom, stretchOf, zoomedFrom } from '../../src/ui/state/range.js';

const FIELDS = {
  q: text(),
  page: integer(1, 1, 1000),
  status: oneOf(['', 'failed', 'running'], ''),
  fold: flag(true),
  range: rangeField('7d'),
};

void t.test('link state round-trips', async (t) => {
  const states = fc.record({
    q: fc
      .string({ unit: 'binary', maxLength: 1024 })
      .filter((value) => value.isWellFormed() && value.length <= 1024),
    page: fc.integer({ min: 1, max: 1000 }),
    status: fc.constantFrom('', 'failed', 'running'),
    fold: fc.boolean(),
    range: fc.constantFrom('1h', '7d', 'all', '2026-11-24T00:00:00.000Z..2026-11-25T00:00:00.000Z'),
  });
  fc.assert(
    fc.property(states, (state) => {
      t.same(parseState(FIELDS, printState(FIELDS, state as never)), state);
    }),
    { numRuns: 200 },
  );
});

void t.test('defaults are omitted from links', async (t) => {
  t.equal(printState(FIELDS, parseState(FIELDS, '')), '');
});

void t.test('a selected time range stays in the link', async (t) => {
  const state = { ...parseState(FIELDS, ''), range: '7d' };
  t.equal(
    printState(FIELDS, state, (name) => name === 'range'),
    'range=7d',
  );
  t.equal(rangeField('24h', true).parse('all'), '90d', 'bounded pages show the longest range');
});

void t.test('returns from a custom time range to the one before', async (t) => {
  const [week, day, hour] = [
    '7d',
    '2026-11-24T00:00:00.000Z..2026-11-25T00:00:00.000Z',
    '2026-11-24T10:00:00.000Z..2026-11-24T11:00:00.000Z',
  ];
  recordZoom(week, day);
  recordZoom(day, hour);
  recordZoom(hour, day);
  t.equal(zoomedFrom(hour), day);
  t.equal(zoomedFrom(day), week);
  recordZoom(day, '30d');
  t.equal(zoomedFrom('30d'), undefined);
});

void t.test('an invalid link falls back to defaults', async (t) => {
  const initial = parseState(FIELDS, '');
  t.same(parseState(FIELDS, 'page=0&status=gone&fold=maybe&range=yesterday&other=1'), initial);
  t.same(parseState(FIELDS, `page=1e3&q=${'x'.repeat(1025)}`), initial);
  fc.assert(
    fc.property(fc.string(), (query) => {
      parseState(FIELDS, query);
    }),
  );
});

void t.test('reads time ranges', async (t) => {
  const now = Date.parse('2026-11-24T12:00:00Z');
  t.same(stretchOf('1h', now), { start: now - 3_600_000, end: undefined });
  t.same(stretchOf('all', now), { start: undefined, end: undefined });
  const [from, to] = ['2026-11-24T00:00:00Z', '2026-11-25T00:00:00Z'];
  t.same(stretchOf(`${from}..${to}`, now), { start: Date.parse(from), end: Date.parse(to) });
  for (const bad of [
    `${to}..${from}`,
    '0h',
    '99999d',
    'h',
    '1y',
    '2026-13-99T00:00:00Z..2026-11-25T00:00:00Z',
  ])
    t.equal(stretchOf(bad, now), undefined, bad);
});
