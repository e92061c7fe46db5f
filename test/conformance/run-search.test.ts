import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { JsonObject } from '../../src/signal/attributes.js';
import { serializeJson } from '../../src/signal/json.js';
import type { SpanRecord } from '../../src/signal/span.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import type { RunCursor } from '../../src/storage/contracts/runs.js';
import type { SpanPosition, TextMatch } from '../../src/storage/contracts/search.js';
import type { FoundByText, TextSearch } from '../../src/storage/contracts/runs.js';
import type { TelemetryStore } from '../../src/storage/contracts/telemetry-store.js';
import { tokensOf, visibleText } from '../../src/storage/shared/log-text.js';
import { neverDiffers, same } from '../support/property.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };
const LONG = 60_000;

/** Words in forms that are stored differently from how they are compared. */
const WORDS = [
  'refund',
  'Refund',
  'REFUNDED',
  'ｒｅｆｕｎｄ',
  're\u001b[31mfund\u001b[0m',
  'order',
  'order_7',
  'Straße',
  'ÜBER',
  'über',
  'u\u0308ber',
  '東京',
  '東京都',
  'ﾃﾞｰﾀ',
  'データ',
  'Ωhm',
  '\u2126hm',
  'ﬁle',
  'file',
  '->',
  '🚀',
  "it's",
  '"quoted"',
  'back\\slash',
  'line\nbreak',
  '{"inner":"order"}',
  'שלום',
  'مرحبا',
  'ΟΔΟΣ',
  '| id | order |',
  'const refund = order[7];',
  'caf\\u00e9',
  '👩‍💻',
] as const;

/** Texts of several kinds that each have the words of a number at a place that differs between kinds, and a query that finds it. */
const KINDS: Readonly<Record<string, (word: string) => { readonly text: string; readonly query: string }>> = {
  prose: (word) => ({ text: `The answer was ${word}, as expected.`, query: word }),
  phrase: (word) => ({ text: `first ${word}\nsecond`, query: `"first ${word} second"` }),
  json: (word) => ({ text: JSON.stringify({ a: [{ b: `x\n${word}\ty` }] }), query: word }),
  'json in json': (word) => ({
    text: JSON.stringify({ a: JSON.stringify({ b: `"${word}"\n${word}` }) }),
    query: word,
  }),
  'escaped json': (word) => ({ text: `{"a":"caf\\u00e9\\u0020${word}é"}`, query: `"café ${word}é"` }),
  table: (word) => ({
    text: `| id | name |\n|---:|------|\n| 1 | ${word} |\n| 2 | Ann |`,
    query: `"1 ${word} 2"`,
  }),
  code: (word) => ({
    text: `def f_${word}(x):\n\treturn {"${word}": x.y}  # ${word}`,
    query: `"return ${word} x"`,
  }),
  path: (word) => ({ text: `C:\\new\\${word}\\table.txt`, query: `"new ${word} table"` }),
  terminal: (word) => ({ text: `\u001b[1;31m${word}\u001b[0m failed`, query: `"${word} failed"` }),
  chinese: (word) => ({ text: `数据库${chinese(word)}连接失败。`, query: `库${chinese(word)}连` }),
  japanese: (word) => ({ text: `ﾃﾞｰﾀ「${chinese(word)}」を保存`, query: `データ ${chinese(word)}` }),
  hebrew: (word) => ({ text: `שגיאה: ${hebrew(word)}.`, query: hebrew(word) }),
  arabic: (word) => ({ text: `خطأ «${arabic(word)}»، حاول`, query: arabic(word) }),
  emoji: (word) => ({ text: `done 🚀${word}👩‍💻`, query: `🚀 ${word} 👩‍💻` }),
  accents: (word) => ({ text: `Cafe\u0301 Stra\u00dfe \uff21${word}`, query: `CAFÉ straße a${word}` }),
};

/** A word in letters of another script, one for each character. */
function inScript(word: string, first: number): string {
  return Array.from(word, (character) => String.fromCharCode(first + parseInt(character, 36))).join('');
}
const chinese = (word: string): string => inScript(word, 0x4e10);
const hebrew = (word: string): string => inScript(word, 0x5d0).slice(0, 4) + word;
const arabic = (word: string): string => inScript(word, 0x641).slice(0, 4) + word;

const QUERIES = [
  'refund',
  'refund*',
  'ref*',
  'refund order',
  '"refund order"',
  '"order refund*"',
  'refund -order',
  '-refund',
  '-"order refund"',
  'über',
  'ÜBER -straße',
  '東京',
  '東京都 refund',
  'データ',
  'ωhm',
  'file',
  'fi*',
  '->',
  '🚀 order',
  'order_7',
  'slash break',
  'inner',
  'nowhere',
  'nowhere*',
  'assistant',
  'ord -order',
  'שלום order',
  'مرحبا',
  'οδος',
  '"id order"',
  '"const refund"',
  'café',
  '👩‍💻',
  '""',
] as const;

type Fields = readonly (string | null)[];

function fieldsOf({ trace, spans }: TraceRecord): Fields[] {
  const { agent, outcome, error_message: error, metadata } = trace;
  const tags = (metadata?.tags ?? []) as readonly string[];
  const ofRun = [agent, outcome, error, json(metadata), tags.join('\n')];
  return [ofRun, ...spans.map(fieldsOfSpan)];
}

function fieldsOfSpan({ name, model, error_message, input_data, output_data }: SpanRecord): Fields {
  return [name, model, error_message, json(input_data), json(output_data)];
}

function json(value: JsonObject | null): string | null {
  return value === null ? null : serializeJson(value);
}

/** Whether some fields have a word or phrase, compared token by token. */
function hasPart(fields: Fields, part: string): boolean {
  const isPrefix = part.endsWith('*');
  const words = tokensOf(part);
  return fields.some((field) => {
    const visible = visibleText(field ?? '');
    if (words.length === 0) return visible.includes(part);
    const tokens = tokensOf(visible);
    return tokens.some((_, at) =>
      words.every((word, i) => {
        const token = tokens[at + i] ?? '';
        return isPrefix && i === words.length - 1 ? token.startsWith(word) : token === word;
      }),
    );
  });
}

/** The parts of a query; a word with a separator is several. */
function partsOf(query: string): { readonly part: string; readonly isExcluded: boolean }[] {
  return [...query.matchAll(/(-(?=[\p{L}"]))?(?:"([^"]*)"|(\S+))/gu)].flatMap(
    ([, sign, quoted, plain = '']) => {
      const parts = quoted === undefined ? plain.split('_') : [quoted];
      return parts.map((part) => ({ part, isExcluded: sign !== undefined }));
    },
  );
}

function matches(documents: readonly Fields[], query: string): boolean {
  if (query === '""') return false;
  return partsOf(query).every(
    ({ part, isExcluded }) => documents.some((fields) => hasPart(fields, part)) !== isExcluded,
  );
}

const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 5 }).map((words) => words.join(' '));
const aRun = fc.record({
  outcome: fc.option(text),
  error: fc.option(text),
  note: fc.option(text),
  tag: fc.option(fc.constantFrom('order', 'vip')),
  spans: fc.array(
    fc.record({
      name: fc.constantFrom('answer', 'Refund order'),
      input: fc.option(text),
      output: fc.option(text),
      error: fc.option(text),
    }),
    { maxLength: 4 },
  ),
  /** Some runs share a time. */
  at: fc.nat(6),
});

function recordOf({
  outcome,
  error,
  note,
  tag,
  spans,
  at,
}: typeof aRun extends fc.Arbitrary<infer Run> ? Run : never): TraceRecord {
  const trace = aHeader({
    outcome,
    error_message: error,
    metadata: note === null && tag === null ? null : { note, ...(tag && { tags: [tag] }) },
    started_at: NOON + at * 1000,
  });
  return {
    trace,
    spans: spans.map(({ name, input, output, error: message }, i) =>
      aSpanRecord(trace.trace_id, {
        name,
        started_at: NOON + i,
        error_message: message,
        input_data: input === null ? null : { messages: [{ role: 'user', content: input }] },
        output_data: output === null ? null : { role: 'assistant', content: output },
      }),
    ),
  };
}

/** All pages of a search. */
async function searched(
  { runs }: TelemetryStore,
  userId: string,
  search: TextSearch,
  { limit = 3, withinMs = LONG } = {},
): Promise<{ readonly ids: string[]; readonly pages: FoundByText[] }> {
  const pages: FoundByText[] = [];
  const ids: string[] = [];
  let after: RunCursor | null = null;
  for (;;) {
    const page = await runs.search(userId, search, { after, limit, withinMs });
    pages.push(page);
    ids.push(...page.items.map(({ trace_id }) => trace_id));
    if (page.next === null) return { ids, pages };
    after = page.next;
  }
}

async function inRun(
  { runs }: TelemetryStore,
  userId: string,
  traceId: string,
  query: string,
  limit: number,
): Promise<TextMatch[]> {
  const items: TextMatch[] = [];
  let after: SpanPosition | null = null;
  for (;;) {
    const page = await runs.searchTrace(userId, traceId, query, { after, limit, withinMs: LONG });
    if (page === null) throw new Error('the run is stored');
    items.push(...page.items);
    if (page.next === null) return items;
    after = page.next;
  }
}

function checkSearch(t: Test, open: OpenTelemetry): void {
  void t.test('finds what a scan of all texts finds, page by page, in hot and moved runs', async (t) => {
    const opened = await open(t, { fileRows: 20 });
    await neverDiffers(
      t,
      { runs: 12, ms: 6000 },
      [
        fc.array(fc.array(aRun, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 }),
        fc.array(fc.constantFrom(...QUERIES), { minLength: 6, maxLength: 12 }),
        fc.boolean(),
        fc.constantFrom(0, LONG),
      ],
      async (commits, queries, isMoved, withinMs) => {
        const user = await opened.addUser();
        const other = await opened.addUser();
        const all: TraceRecord[] = [];
        for (const commit of commits) {
          const items = commit.map(recordOf);
          all.push(...items);
          await opened.store.writer.traces({ tenant: user, items }, RECEIVED);
        }
        if (isMoved) await opened.settled();
        const inOrder = all.toSorted(
          ({ trace: a }, { trace: b }) => b.started_at - a.started_at || (a.trace_id < b.trace_id ? 1 : -1),
        );
        for (const query of queries) {
          const { ids } = await searched(opened.store, user, { query }, { withinMs });
          const expected = inOrder.filter((record) => matches(fieldsOf(record), query));
          same({ query, ids }, { query, ids: expected.map(({ trace }) => trace.trace_id) });
          same((await searched(opened.store, other, { query })).ids, []);
        }
        const [first] = all;
        const [query] = queries;
        if (first === undefined || query === undefined) return;
        const { trace_id } = first.trace;
        const found = await inRun(opened.store, user, trace_id, query, 1);
        const spans = first.spans
          .toSorted((a, b) => a.started_at - b.started_at)
          .filter((span) => matches([fieldsOfSpan(span)], query));
        // Spans without any excluded word have no place to show.
        if (!partsOf(query).every(({ isExcluded }) => isExcluded))
          same(
            found.flatMap(({ span }) => span?.span_id ?? []),
            spans.map(({ span_id }) => span_id),
          );
        same(
          await opened.store.runs.searchTrace(other, trace_id, query, {
            after: null,
            limit: 1,
            withinMs: LONG,
          }),
          null,
        );
      },
    );
  });

  void t.test('shows where it was found, and combines with the other filters', async (t) => {
    const opened = await open(t);
    const user = await opened.addUser();
    const runs = Array.from({ length: 30 }, (_, i) => {
      const trace = aHeader({
        started_at: NOON + i * 1000,
        status: i % 2 === 0 ? 'failed' : 'completed',
        duration_ms: i,
      });
      const output_data = {
        answer: `${'Some words before. '.repeat(20)}Click **Forgot password** to go on, step ${i}.`,
      };
      return { trace, spans: [aSpanRecord(trace.trace_id, { name: 'tool', type: 'tool', output_data })] };
    });
    await opened.store.writer.traces({ tenant: user, items: runs }, RECEIVED);
    const query = '"forgot password"';
    const { pages, ids } = await searched(opened.store, user, { query, status: 'failed' }, { limit: 4 });
    t.strictSame(
      ids,
      runs
        .filter(({ trace }) => trace.status === 'failed')
        .map(({ trace }) => trace.trace_id)
        .reverse(),
    );
    const match = pages[0]?.matches.get(ids[0] ?? '');
    t.match(match, {
      field: 'output_data',
      span: { name: 'tool', type: 'tool', span_id: runs[28]?.spans[0]?.span_id },
    });
    const { snippet } = match ?? { snippet: { text: '', marks: [] } };
    t.strictSame(
      snippet.marks.map(([start, end]) => snippet.text.slice(start, end)),
      ['Forgot password'],
    );
    t.ok(snippet.text.startsWith('…'));
    t.equal(pages[0]?.searched_back_to, runs[22]?.trace.started_at);
    t.equal(pages.at(-1)?.searched_back_to, null);
    const slowest = await searched(opened.store, user, { query: 'step 29', sort: 'duration_ms' });
    t.strictSame(slowest.ids, [runs[29]?.trace.trace_id]);
    const oldest = await searched(
      opened.store,
      user,
      { query, oldest_first: true, span: { type: 'tool' } },
      { limit: 100 },
    );
    t.strictSame(
      oldest.ids,
      runs.map(({ trace }) => trace.trace_id),
    );
    t.strictSame((await searched(opened.store, user, { query, span: { type: 'llm' } })).ids, []);
  });

  void t.test('shows the earliest of several equal matches', async (t) => {
    const opened = await open(t, { fileRows: 30 });
    const user = await opened.addUser();
    const trace = aHeader({ started_at: NOON });
    // The last span begins first.
    const spans = Array.from({ length: 12 }, (_, i) =>
      aSpanRecord(trace.trace_id, {
        name: i % 2 === 0 ? 'answer' : 'other',
        started_at: NOON + 1000 - i,
        output_data: { text: 'a walrus' },
      }),
    );
    for (const some of [spans.slice(0, 6), spans.slice(6)])
      await opened.store.writer.traces({ tenant: user, items: [{ trace, spans: some }] }, RECEIVED);
    for (const state of ['hot', 'moved']) {
      const matchOf = async (query: string) =>
        (await searched(opened.store, user, { query })).pages[0]?.matches.get(trace.trace_id);
      t.match(await matchOf('answer'), { span: { span_id: spans[10]?.span_id }, field: 'name' }, state);
      t.match(await matchOf('walrus'), { span: { span_id: spans[11]?.span_id } }, state);
      t.match(await matchOf('a*'), { span: { span_id: spans[10]?.span_id }, field: 'name' }, state);
      await opened.settled();
    }
  });

  void t.test('finds each of many texts of every kind, and nothing else', async (t) => {
    const opened = await open(t, { fileRows: 200 });
    const user = await opened.addUser();
    const queries = new Map<string, { readonly kind: string; readonly query: string }>();
    const items = Object.entries(KINDS).flatMap(([kind, of], k) =>
      Array.from({ length: 3 }, (_, i) => {
        const { text, query } = of((k * 1000 + i * 37 + 46_000).toString(36));
        const trace = aHeader({ started_at: NOON + k * 1000 + i });
        queries.set(trace.trace_id, { kind, query });
        const output_data = {
          content: [{ text: `${'filler text '.repeat(20)}${text}` }, { text: 'more text' }],
        };
        return { trace, spans: [aSpanRecord(trace.trace_id, { output_data })] };
      }),
    );
    for (let from = 0; from < items.length; from += 30)
      await opened.store.writer.traces({ tenant: user, items: items.slice(from, from + 30) }, RECEIVED);
    for (const state of ['hot', 'moved']) {
      const missed: string[] = [];
      for (const [id, { kind, query }] of queries) {
        const { ids } = await searched(opened.store, user, { query }, { limit: 10 });
        if (JSON.stringify(ids) !== JSON.stringify([id]))
          missed.push(`${kind}: ${query} finds ${ids.length}`);
      }
      t.strictSame(missed, [], `${queries.size} texts, ${state}`);
      await opened.settled();
    }
  });

  void t.test('a search that is out of time continues where it stopped', async (t) => {
    const opened = await open(t, { fileRows: 500 });
    const user = await opened.addUser();
    const runs = Array.from({ length: 1200 }, (_, i) => {
      const trace = aHeader({ started_at: NOON + i * 1000 });
      return {
        trace,
        spans: [aSpanRecord(trace.trace_id, { input_data: { text: i % 400 === 7 ? 'needle' : 'hay' } })],
      };
    });
    for (let from = 0; from < runs.length; from += 300)
      await opened.store.writer.traces({ tenant: user, items: runs.slice(from, from + 300) }, RECEIVED);
    for (const state of ['hot', 'moved']) {
      const { ids, pages } = await searched(
        opened.store,
        user,
        { query: 'needle' },
        { withinMs: 0, limit: 100 },
      );
      t.strictSame(
        ids,
        [807, 407, 7].map((i) => runs[i]?.trace.trace_id),
        state,
      );
      t.ok(pages.length > 2, 'in several parts');
      t.ok(pages.slice(0, -1).every((page) => page.searched_back_to === page.next?.started_at));
      await opened.settled();
    }
  });

  void t.test('finds the newest version of a span, and long payloads', async (t) => {
    const opened = await open(t, { fileRows: 10 });
    const user = await opened.addUser();
    const trace = aHeader({ started_at: NOON });
    const running = aSpanRecord(trace.trace_id, { status: 'running', input_data: { text: 'question' } });
    const write = async (...spans: SpanRecord[]): Promise<void> => {
      await opened.store.writer.traces({ tenant: user, items: [{ trace, spans }] }, RECEIVED);
    };
    await write(running);
    await write({ ...running, status: 'completed', output_data: { text: 'late answer' } });
    const long = { text: `${'filler '.repeat(40_000)} treasure ${'more '.repeat(100_000)}` };
    const [longSpan, other] = [
      aSpanRecord(trace.trace_id, { input_data: long }),
      aSpanRecord(trace.trace_id),
    ];
    await write(longSpan, other);
    for (const state of ['hot', 'moved']) {
      for (const query of ['question "late answer"', 'treasure question', 'filler', 'answer'])
        t.strictSame(
          (await searched(opened.store, user, { query })).ids,
          [trace.trace_id],
          `${state}: ${query}`,
        );
      t.strictSame((await searched(opened.store, user, { query: 'treasure -answer' })).ids, []);
      const [found, ...others] = await inRun(opened.store, user, trace.trace_id, 'treasure', 10);
      t.equal(found?.span?.span_id, longSpan.span_id);
      t.strictSame(others, []);
      const { text = '', marks = [] } = found?.snippet ?? {};
      t.strictSame(
        marks.map(([start, end]) => text.slice(start, end)),
        ['treasure'],
      );
      await opened.settled();
    }
    const stop = new AbortController();
    stop.abort();
    await t.rejects(
      opened.store.runs.search(
        user,
        { query: 'filler' },
        { after: null, limit: 1, withinMs: LONG },
        stop.signal,
      ),
    );
  });
}

await onEveryTelemetry(t, checkSearch);
