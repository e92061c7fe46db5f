import { setImmediate as yieldToOthers } from 'node:timers/promises';
import {
  MAX_ATTRIBUTE_VALUE,
  MOST_ATTRIBUTE_RUNS,
  type FieldValue,
  type FoundByText,
  type RunCursor,
  type RunFilter,
  type RunSummary,
  type TextSearch,
  type WantedAttributes,
} from '../contracts/runs.js';
import { itemAt } from '../../signal/checked.js';
import { SPAN_TYPES } from '../../signal/span.js';
import {
  RUN_FIELDS,
  SPAN_FIELDS,
  type SearchedField,
  type FoundSpans,
  type SearchRange,
  type SpanPosition,
  type TextMatch,
} from '../contracts/search.js';
import type { StoredAttributes } from '../../signal/attributes.js';
import {
  attributeNeedle,
  containsText,
  havingAttributes,
  inTurns,
  wantedNeedles,
  type AttributeNeedle,
  type AttributeSource,
} from './attribute-search.js';
import { needlesOf } from './needles.js';
import { RunMatcher, type SearchedText } from './run-matcher.js';
import { parseTextQuery, type TextQuery } from './text-query.js';

/** How many runs the first step covers; later steps grow as long as they take less time than this. */
const FIRST_RUNS = 200;
const MOST_RUNS = 8000;
const GROWTH = 4;
const STEP_MS = 500;
/** Candidates whose texts are read together: for fewer, planning the statements takes most of the time. */
const READ_TOGETHER = 100;
/** Candidates whose attributes are read together: without a query nothing else is read. */
const ATTRIBUTES_TOGETHER = 400;

/** A part of a list of runs in which a store has searched for needles. */
export interface SearchStep {
  /** The runs of the part that may have all needles, in order. */
  readonly candidates: readonly RunCursor[];
  /** The last run of the part; null at the end of the list. */
  readonly next: RunCursor | null;
}

/** How a store is searched: first for needles, in parts of the list; then the texts of the runs that may match are read. */
export interface SearchedList extends AttributeSource {
  step(needles: Needles, after: RunCursor | null, runs: number): Promise<SearchStep>;
  /**
   * The fields of some runs, and of their spans those that may have one of the needles; of the spans of a run all, if there are none.
   * In the order in which a match is chosen: fields of runs, short fields of spans, then payloads, by start and id of the span.
   *
   * @param isDecided whether more texts of a run are not needed
   */
  texts(
    traceIds: readonly string[],
    needles: readonly string[],
    isDecided: (traceId: string) => boolean,
  ): AsyncIterable<readonly TextOfRun[]>;
}

/** What the runs of a step are searched for. */
export interface Needles {
  /** The searched texts of a run have each of them. */
  readonly texts: readonly string[];
  /** The stored attributes of one span have all of them; they may also be found in spans that are stored next to each other. */
  readonly attributes: readonly AttributeNeedle[];
}

export type TextOfRun = SearchedText & { readonly traceId: string };

/** A row with columns of a run or a span. */
type TextRow = Readonly<Record<string, unknown>>;

/** The searched fields of a run. @param row with the columns {@link HEADER_TEXTS} */
export function textsOfHeader(traceId: string, agentName: string, row: TextRow): TextOfRun[] {
  return textsIn({ traceId, span: null }, { ...row, agent_name: agentName }, RUN_FIELDS);
}

/** The searched fields of a span, as far as the row has them. */
export function textsOfSpan(traceId: string, row: TextRow): TextOfRun[] {
  const { span_id, name, type } = row;
  const span = { span_id: String(span_id), name: String(name), type: itemAt(SPAN_TYPES, Number(type)) };
  return textsIn({ traceId, span }, row, SPAN_FIELDS);
}

function textsIn(
  of: Pick<TextOfRun, 'traceId' | 'span'>,
  row: TextRow,
  fields: readonly SearchedField[],
): TextOfRun[] {
  return fields.flatMap((field) => {
    const text = row[field];
    return typeof text === 'string' && text !== '' ? [{ ...of, field, text }] : [];
  });
}

/** The columns of a header that are searched; the name of the agent is stored elsewhere. */
export const HEADER_TEXTS = RUN_FIELDS.filter((field) => field !== 'agent_name');

/** The ids of matching runs, to be completed with their summaries. */
export interface FoundIds extends Omit<FoundByText, 'items' | 'rest'> {
  readonly traceIds: readonly string[];
}

const NOTHING: FoundIds = { traceIds: [], matches: new Map(), next: null, searched_back_to: null };

/**
 * Searches the runs of a list for a query and for attributes, in steps, so that no statement takes long and others get their turn.
 *
 * @param now milliseconds
 */
export async function searchRuns(
  list: SearchedList,
  { query: text, attributes, ...filter }: TextSearch,
  { after, limit, withinMs }: SearchRange<RunCursor>,
  now: () => number = () => performance.now(),
): Promise<FoundIds> {
  const query = parseTextQuery(text);
  if (query === null) return NOTHING;
  const end = now() + withinMs;
  const needles = {
    texts: needlesOf(query),
    attributes: attributes === undefined ? [] : wantedNeedles(attributes),
  };
  const readTogether = text.trim() === '' ? ATTRIBUTES_TOGETHER : READ_TOGETHER;
  const found = new Map<string, TextMatch | null>();
  const answer = (next: RunCursor | null): FoundIds => ({
    traceIds: [...found.keys()],
    matches: new Map([...found].flatMap(([id, match]) => (match === null ? [] : [[id, match] as const]))),
    next,
    searched_back_to: next === null || !isByStart(filter) ? null : next.started_at,
  });
  for (let place = after, runs = FIRST_RUNS; ;) {
    const begun = now();
    const { candidates, next } = await list.step(needles, place, runs);
    if (now() - begun < STEP_MS) runs = Math.min(MOST_RUNS, runs * GROWTH);
    for (let at = 0; at < candidates.length; at += readTogether) {
      const read = candidates.slice(at, at + readTogether);
      const some = attributes === undefined ? read : await havingAttributes(list, attributes, read);
      const matchers = await matchersOf(list, query, some);
      for (const one of some) {
        const matcher = matchers.get(one.trace_id);
        if (matcher?.matches !== true) continue;
        found.set(one.trace_id, matcher.match);
        if (found.size === limit) return answer(one);
      }
      const last = read.at(-1);
      if (last !== undefined && now() >= end && at + readTogether < candidates.length) return answer(last);
    }
    if (next === null || now() >= end) return answer(next);
    place = next;
  }
}

/** Runs whose values are read together. */
const VALUES_TOGETHER = 100;
/** Most values that are counted. */
const MOST_VALUES = 10_000;

/** The most frequent keys of attributes, or values of one, in the newest runs of a list. */
export async function attributeValues(
  list: SearchedList,
  { key, contains: part = '', limit, read, withinMs }: WantedAttributes,
  now: () => number = () => performance.now(),
): Promise<readonly FieldValue[]> {
  const end = now() + withinMs;
  const needles = key === null ? [] : [attributeNeedle({ key, test: 'contains', value: '' })];
  const runs = new Map<string, number>();
  for (
    let after: RunCursor | null = null, seen = 0;
    seen < MOST_ATTRIBUTE_RUNS && now() < end;
    seen += VALUES_TOGETHER
  ) {
    const { candidates, next } = await list.step({ texts: [], attributes: needles }, after, VALUES_TOGETHER);
    const found = await valuesOf(list, candidates, needles, (stored) => {
      const span = read(stored);
      return key === null ? span.keys() : [span.text(key) ?? ''];
    });
    for (const values of found)
      for (const value of values)
        if (
          value.length <= MAX_ATTRIBUTE_VALUE &&
          containsText(value, part) &&
          (runs.has(value) || runs.size < MOST_VALUES)
        )
          runs.set(value, (runs.get(value) ?? 0) + 1);
    if (next === null) break;
    after = next;
  }
  return [...runs]
    .map(([value, count]) => ({ value, runs: count }))
    .toSorted((a, b) => b.runs - a.runs || (a.value < b.value ? -1 : 1))
    .slice(0, limit);
}

/** The values of each run, without the empty one. */
async function valuesOf(
  list: SearchedList,
  candidates: readonly RunCursor[],
  needles: readonly AttributeNeedle[],
  valuesIn: (stored: StoredAttributes) => readonly string[],
): Promise<Iterable<ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>();
  const ids = candidates.map(({ trace_id }) => trace_id);
  for await (const stored of inTurns(list.attributes(ids, [needles], () => false))) {
    const values = found.get(stored.trace_id) ?? new Set();
    found.set(stored.trace_id, values);
    for (const value of valuesIn(stored)) if (value !== '') values.add(value);
  }
  return found.values();
}

/** Completes found runs with their summaries. @param summaries of all of them, in order */
export async function withSummaries(
  { traceIds, ...found }: FoundIds,
  summaries: AsyncIterable<readonly RunSummary[]>,
): Promise<FoundByText> {
  const pages = summaries[Symbol.asyncIterator]();
  const first = traceIds.length === 0 ? undefined : await pages.next();
  const items = first?.done === false ? first.value : [];
  const runs = traceIds.length - items.length;
  if (runs === 0) return { ...found, items };
  return { ...found, items, rest: { runs, pages: { [Symbol.asyncIterator]: () => pages } } };
}

async function matchersOf(
  list: SearchedList,
  query: TextQuery,
  runs: readonly RunCursor[],
): Promise<ReadonlyMap<string, RunMatcher>> {
  const matchers = new Map(runs.map(({ trace_id }) => [trace_id, new RunMatcher(query)]));
  if ([...matchers.values()].every(({ isDecided }) => isDecided)) return matchers;
  const needles = needlesForTexts(query);
  const isDecided = (traceId: string): boolean => matchers.get(traceId)?.isDecided ?? true;
  for await (const texts of list.texts([...matchers.keys()], needles, isDecided)) {
    for (const text of texts) {
      const matcher = matchers.get(text.traceId);
      if (matcher?.isDecided === false) await matcher.add(text);
    }
    await yieldToOthers();
  }
  return matchers;
}

/** Every relevant text contains at least one of these needles; none if a condition has no needle. */
function needlesForTexts(query: TextQuery): readonly string[] {
  const all = [query, query.without];
  const needles = all.map((conditions) => needlesOf(conditions));
  const conditions = all.reduce(
    (sum, { phrases, prefixes, literals }) => sum + phrases.length + prefixes.length + literals.length,
    0,
  );
  const found = needles.flat();
  return found.length === conditions ? found : [];
}

/** A page of a run's spans with their searched texts. */
export interface SearchedPage {
  /** The fields of the run itself, on the first page. */
  readonly header: readonly TextOfRun[];
  /** By position. */
  readonly spans: readonly { readonly position: SpanPosition; readonly texts: readonly TextOfRun[] }[];
  readonly isLast: boolean;
}

/**
 * Finds the spans of a run that meet a query alone, with all of their fields.
 *
 * @param page reads the spans after a position; null for an unknown trace
 * @param now milliseconds
 */
export async function searchTrace(
  page: (after: SpanPosition | null) => Promise<SearchedPage | null>,
  text: string,
  { after, limit, withinMs }: SearchRange<SpanPosition>,
  now: () => number = () => performance.now(),
): Promise<FoundSpans | null> {
  const query = parseTextQuery(text);
  const end = now() + withinMs;
  const items: TextMatch[] = [];
  for (let place = after; ;) {
    const found = await page(place);
    if (found === null) return null;
    if (query === null) return { items, next: null };
    const header = await matchOf(query, found.header);
    if (header !== null) items.push(header);
    for (const [i, { position, texts }] of found.spans.entries()) {
      const match = await matchOf(query, texts);
      if (match !== null) items.push(match);
      const isEnd = found.isLast && i === found.spans.length - 1;
      if (items.length >= limit && !isEnd) return { items, next: position };
    }
    const last = found.spans.at(-1);
    if (found.isLast || last === undefined) return { items, next: null };
    if (now() >= end) return { items, next: last.position };
    place = last.position;
    await yieldToOthers();
  }
}

async function matchOf(query: TextQuery, texts: readonly SearchedText[]): Promise<TextMatch | null> {
  const matcher = new RunMatcher(query);
  for (const text of texts) await matcher.add(text);
  return matcher.matches ? matcher.match : null;
}

function isByStart({ sort, oldest_first }: RunFilter): boolean {
  return sort === undefined && oldest_first !== true;
}
