import fc from 'fast-check';
import t, { type Test } from 'tap';
import { SEVERITIES, type LogRecord } from '../../src/signal/log-record.js';
import { uuidV7 } from '../../src/signal/ids.js';
import type { LogFilter } from '../../src/storage/contracts/logs.js';
import { aLog, fromService } from '../support/log-records.js';
import { neverDiffers, same } from '../support/property.js';
import { NOON } from '../support/run-records.js';
import { bodyText, searchLogs, shownLog } from '../storage/duckdb/log-search.js';
import { playSteps } from '../storage/duckdb/play-steps.js';
import { onEveryTelemetry, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };

const WORDS = [
  'timeout',
  'Timeout',
  'TIME',
  'out',
  'a',
  'b',
  '500',
  'x1',
  'straße',
  'STRASSE',
  'ﬁle',
  'FILE',
  'ΟΔΟΣ',
  'é',
  'e\u0301',
  'İ',
  '日本語',
  'ＡＢＣ',
  'x²',
  '½',
  '\u212A',
  'हिन्दी',
  '😀',
  '',
] as const;
const SEPARATORS = [
  ' ',
  ' ',
  ' ',
  '-',
  '_',
  '\n',
  '\t',
  '\0',
  ', ',
  '"',
  "'",
  '\u00a0',
  '\u3000',
  '.',
] as const;
const TRACES = ['00000000-0000-0000-0000-00000000000a', 'ffffffff-ffff-ffff-ffff-ffffffffffff'] as const;
const SERVICES = ['', 'checkout', "o'hara", 'Ünï'] as const;

/** A few words occur in most bodies, so that multi-word searches match. */
const word = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('a', 'B', 'time') },
  { weight: 1, arbitrary: fc.constantFrom(...WORDS) },
);
const text = fc
  .array(fc.tuple(word, fc.constantFrom(...SEPARATORS)), { maxLength: 6 })
  .map((parts) => parts.flat().join(''));
const body = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 1, arbitrary: fc.record({ message: text, code: fc.constantFrom(500, 1.5, null, true) }) },
  { weight: 1, arbitrary: fc.constantFrom(null, 500, false, ['a', 'b'], {}) },
);
const time = fc.integer({ min: 0, max: 6 }).map((second) => NOON + second * 1_000_000);

interface Sent {
  readonly tenant: 0 | 1;
  readonly log: LogRecord;
}

const sent: fc.Arbitrary<Sent> = fc
  .record({
    tenant: fc.constantFrom(0 as const, 1 as const),
    body,
    timestamp: time,
    severity: fc.constantFrom(...SEVERITIES),
    service: fc.constantFrom(...SERVICES),
    trace_id: fc.constantFrom(null, ...TRACES),
  })
  .map(({ tenant, service, ...log }) => ({ tenant, log: aLog({ ...log, origin: fromService(service) }) }));

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(fc.array(sent, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 3 }),
  },
  { weight: 1, arbitrary: fc.constantFrom('settle' as const, 'restart' as const, 'look' as const) },
);
// Hot segments are scanned, compacted data is searched by terms: both at the end of every run.
const LAST = ['look', 'settle', 'look'] as const;

/** Phrases of one word, or of several in quotes. */
const phrases = fc.array(fc.array(word, { minLength: 1, maxLength: 3 }), { maxLength: 2 });

interface Asked {
  readonly phrases: readonly (readonly string[])[];
  readonly filter: Omit<LogFilter, 'query'>;
  readonly page: { readonly offset: number; readonly limit: number };
}

const asked: fc.Arbitrary<Asked> = fc.record({
  phrases,
  filter: fc.record(
    {
      service_name: fc.constantFrom(...SERVICES),
      severity: fc.constantFrom(...SEVERITIES),
      trace_id: fc.constantFrom(...TRACES),
      start_time: time,
      end_time: time,
    },
    { requiredKeys: [] },
  ),
  page: fc.record({ offset: fc.integer({ min: 0, max: 60 }), limit: fc.integer({ min: 1, max: 40 }) }),
});

const EVERYTHING: Asked = { phrases: [], filter: {}, page: { offset: 0, limit: 1000 } };

function checkLogs(t: Test, open: OpenTelemetry): void {
  void t.test('searches match a scan of all records wherever they are stored', async (t) => {
    const opened = await open(t, { fileRows: 25 });
    await neverDiffers(
      t,
      { runs: 60, ms: 2000 },
      [fc.array(step, { minLength: 1, maxLength: 12 }), fc.array(asked, { minLength: 1, maxLength: 6 })],
      async (steps, searches) => {
        const tenants = [await opened.addUser(), await opened.addUser()] as const;
        const stored: Sent[] = [];
        const look = async (): Promise<void> => {
          for (const i of [0, 1] as const) {
            const own = stored.filter(({ tenant }) => tenant === i).map(({ log }) => log);
            for (const search of searches) await compare(opened, tenants[i], own, search);
            await compare(opened, tenants[i], own, EVERYTHING);
          }
        };
        await playSteps(opened, [...steps, ...LAST], {
          look,
          write: async (written) => {
            // Generated values are reused while shrinking, so each use needs a new id.
            const batches = written.map((batch) =>
              batch.map(({ tenant, log }) => ({ tenant, log: { ...log, id: uuidV7(NOON / 1000) } })),
            );
            await Promise.all(
              batches.flatMap((batch) =>
                ([0, 1] as const).map((i) => {
                  const items = batch.filter(({ tenant }) => tenant === i).map(({ log }) => log);
                  return opened.store.writer.logs({ tenant: tenants[i], items }, RECEIVED);
                }),
              ),
            );
            stored.push(...batches.flat());
          },
        });
      },
    );
    t.same(opened.statuses, []);
  });
}

async function compare(
  { store }: OpenedTelemetry,
  tenant: string,
  stored: readonly LogRecord[],
  { phrases, filter, page }: Asked,
): Promise<void> {
  const query = phrases
    .map((phrase) => (phrase.length === 1 ? phrase.join('') : `"${phrase.join(' ')}"`))
    .join(' ');
  const expected = stored
    .filter((log) => isFound(log, phrases, filter))
    .sort((a, b) => b.timestamp - a.timestamp || (a.id < b.id ? 1 : -1))
    .map(shownLog);
  const found = await searchLogs(store, tenant, { ...filter, query }, page);
  same(found.count, expected.length);
  same(found.items, expected.slice(page.offset, page.offset + page.limit));
}

/** The expected matches: all phrases as token sequences, and every filter. */
function isFound(log: LogRecord, phrases: Asked['phrases'], filter: Asked['filter']): boolean {
  const tokens = tokensOf(bodyText(log) ?? '');
  return (
    phrases.every((phrase) =>
      // One searched word may be several tokens, which need not be adjacent.
      phrase.length === 1
        ? tokensOf(phrase.join('')).every((token) => tokens.includes(token))
        : hasNeighbours(tokens, tokensOf(phrase.join(' '))),
    ) &&
    (filter.service_name === undefined || log.origin.serviceName === filter.service_name) &&
    (filter.severity === undefined || log.severity === filter.severity) &&
    (filter.trace_id === undefined || log.trace_id === filter.trace_id) &&
    log.timestamp >= (filter.start_time ?? -Infinity) &&
    log.timestamp <= (filter.end_time ?? Infinity)
  );
}

function hasNeighbours(tokens: readonly string[], wanted: readonly string[]): boolean {
  return wanted.length === 0 || tokens.some((_, at) => wanted.every((token, i) => tokens[at + i] === token));
}

function tokensOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

await onEveryTelemetry(t, checkLogs);
