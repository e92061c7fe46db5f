import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { AttributeTexts, StoredAttributes } from '../../signal/attributes.js';
import type { AttributeCondition, AttributeFilter, RunCursor } from '../contracts/runs.js';

/**
 * What the stored bytes of a span contain if it meets a condition. JSON and OTLP store a text differently, so only the longest part that
 * both store as UTF-8 is searched. Empty bytes: nothing to search for.
 */
export interface AttributeNeedle {
  readonly key: Uint8Array;
  /** One of them is there, too. */
  readonly values: readonly Uint8Array[];
  /** If not empty, one of these is there: the key followed by the value. */
  readonly pairs: readonly Uint8Array[];
}

/** JSON escapes these characters. U+FFFD stands for bytes that are not UTF-8. */
const STORED_OTHERWISE = /["\\\p{Cc}\ufffd]/u;
/** Numbers of OTLP that are shown as texts. */
const NOT_FINITE = new Set(['NaN', 'Infinity', '-Infinity']);
const ANYTHING = new Uint8Array(0);
const SLICE_MS = 4;

/** For a condition that is met by what it names, so also for `is_not`. */
export function attributeNeedle({ key, test, value }: AttributeCondition): AttributeNeedle {
  const needle = { key: longestPart(key), values: [ANYTHING], pairs: [] };
  // A part of a text may also be a part of a number, or of the JSON of a list.
  if (test === 'contains' || NOT_FINITE.has(value)) return needle;
  const parsed = jsonIn(value);
  if (typeof parsed === 'number' || typeof parsed === 'boolean')
    return key.includes('\ufffd') ? needle : { ...needle, pairs: pairsOf(key, value, parsed) };
  if (typeof parsed === 'object' && parsed !== null) return needle;
  return { ...needle, values: [longestPart(value), ...bytesShownAs(value)] };
}

/** What OTLP may have sent as bytes, which are shown in base64. */
function bytesShownAs(text: string): readonly Uint8Array[] {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === text ? [bytes] : [];
}

/** The forms of a number or a boolean, or of the text that looks like it, after its key: in JSON, and as OTLP libraries write it. */
function pairsOf(key: string, text: string, value: number | boolean): Uint8Array[] {
  const json = [text, JSON.stringify(text)].map((each) => Buffer.from(`${JSON.stringify(key)}:${each}`));
  const isInteger = /^-?\d+$/.test(text);
  const sent =
    typeof value === 'boolean'
      ? [[0x10, value ? 1 : 0]]
      : [
          ...(isInteger ? [[0x18, ...varint(BigInt.asUintN(64, BigInt(text)))]] : []),
          ...(value === 0 ? [0, -0] : [value]).map((each) => [
            0x21,
            ...new Uint8Array(Float64Array.of(each).buffer),
          ]),
        ];
  const ofLength = (tag: number, part: Uint8Array): number[] => [
    tag,
    ...varint(BigInt(part.length)),
    ...part,
  ];
  const texts = [
    ofLength(0x0a, Buffer.from(text)),
    ...bytesShownAs(text).map((part) => ofLength(0x3a, part)),
  ];
  const otlp = [...texts, ...sent].map((any) =>
    Buffer.concat([Buffer.from(key), Buffer.from(ofLength(0x12, Buffer.from(any)))]),
  );
  return [...json, ...otlp];
}

/** A number in protobuf. */
function varint(value: bigint): number[] {
  return value < 128n ? [Number(value)] : [Number(value & 127n) | 128, ...varint(value >> 7n)];
}

/** The needles for the spans that decide about a run: one of them with all of the first ones, or any that excludes it. */
function decidingNeedles(conditions: readonly AttributeCondition[]): readonly AttributeNeedle[][] {
  const wanted = wantedOf(conditions);
  const excluded = conditions.filter(({ test }) => test === 'is_not');
  return [...(wanted.length === 0 ? [] : [wanted]), ...excluded.map((condition) => [condition])].map((some) =>
    some.map(attributeNeedle),
  );
}

/** The needles that a span of the run must all have. */
export function wantedNeedles({ conditions }: AttributeFilter): readonly AttributeNeedle[] {
  return wantedOf(conditions).map(attributeNeedle);
}

/** Parses JSON; undefined for other texts. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function longestPart(text: string): Uint8Array {
  const parts = text.toWellFormed().split(STORED_OTHERWISE);
  return Buffer.from(parts.reduce((a, b) => (b.length > a.length ? b : a)));
}

function wantedOf(conditions: readonly AttributeCondition[]): readonly AttributeCondition[] {
  return conditions.filter(({ test }) => test !== 'is_not');
}

/** Decides whether a run meets conditions on attributes, from its spans one after the other. */
class AttributeMatcher {
  readonly #wanted: readonly AttributeCondition[];
  readonly #excluded: readonly AttributeCondition[];
  #isMet: boolean;
  #isExcluded = false;

  constructor(conditions: readonly AttributeCondition[]) {
    this.#wanted = wantedOf(conditions);
    this.#excluded = conditions.filter(({ test }) => test === 'is_not');
    this.#isMet = this.#wanted.length === 0;
  }

  get matches(): boolean {
    return this.#isMet && !this.#isExcluded;
  }

  get isDecided(): boolean {
    return this.#isExcluded || (this.#isMet && this.#excluded.length === 0);
  }

  add(span: AttributeTexts): void {
    this.#isExcluded ||= this.#excluded.some(({ key, value }) => span.text(key) === value);
    this.#isMet ||= this.#wanted.every(({ key, test, value }) => {
      const text = span.text(key);
      return test === 'is' ? text === value : text !== null && containsText(text, value);
    });
  }
}

/** Where the attributes of spans are read. */
export interface AttributeSource {
  /**
   * Those of the spans of some runs that may have all needles of one of the lists.
   *
   * @param isDecided whether more spans of a run are not needed
   */
  attributes(
    traceIds: readonly string[],
    needles: readonly (readonly AttributeNeedle[])[],
    isDecided: (traceId: string) => boolean,
  ): AsyncIterable<readonly StoredAttributes[]>;
}

/** The runs among some that meet conditions on attributes. */
export async function havingAttributes(
  source: AttributeSource,
  { conditions, read }: AttributeFilter,
  runs: readonly RunCursor[],
): Promise<readonly RunCursor[]> {
  const matchers = new Map(runs.map(({ trace_id }) => [trace_id, new AttributeMatcher(conditions)]));
  const isDecided = (traceId: string): boolean => matchers.get(traceId)?.isDecided ?? true;
  const ids = [...matchers.keys()];
  for await (const span of inTurns(source.attributes(ids, decidingNeedles(conditions), isDecided)))
    if (!isDecided(span.trace_id)) matchers.get(span.trace_id)?.add(read(span));
  return runs.filter(({ trace_id }) => matchers.get(trace_id)?.matches);
}

/** Parsing thousands of spans takes long: other requests get their turn in between. */
export async function* inTurns<Item>(parts: AsyncIterable<readonly Item[]>): AsyncGenerator<Item> {
  let sliceEnd = performance.now() + SLICE_MS;
  for await (const part of parts)
    for (const item of part) {
      yield item;
      if (performance.now() < sliceEnd) continue;
      await yieldToOthers();
      sliceEnd = performance.now() + SLICE_MS;
    }
}

/** In any case. */
export function containsText(text: string, part: string): boolean {
  return lowered(text).includes(lowered(part));
}

/** Independent of the position in a word: JavaScript gives a sigma at the end of a word another form. */
function lowered(text: string): string {
  return text.replaceAll('Σ', 'σ').toLowerCase();
}
