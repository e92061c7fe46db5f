import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { ItemProblems } from '../../component/item-problems.js';
import { isUuid } from '../../signal/ids.js';
import { parseMoney } from '../../signal/money.js';
import { parseTime } from '../../signal/time.js';
import type { TraceRecord } from '../../signal/trace.js';
import { toRecord } from './records.js';
import { SpanSchema, TraceHeaderSchema, TraceItemSchema, type TraceItem } from './wire-format.js';
import { wordError } from './wording.js';

/** Tests check that the schema is a JSON Schema: doing so here takes longer than compiling it. */
const OPTIONS = { allowUnionTypes: true, validateSchema: false } as const;

/** @returns the record, or in words why the item is not one. */
export type ItemReader = (item: unknown) => TraceRecord | string;

let reader: ItemReader | undefined;

/**
 * The reader of items. At the first call the schema of an item is compiled, twice: one check that stops at the first error, for
 * the good items that nearly all are, and one that finds every error, to explain the bad ones.
 */
export function itemReader(): ItemReader {
  return (reader ??= compileReader());
}

function compileReader(): ItemReader {
  const isItem = compile(new Ajv(OPTIONS));
  const explain = compile(new Ajv({ ...OPTIONS, allErrors: true, verbose: true }));
  return (item) => {
    if (isItem(item)) return toRecord(item);
    return explain(item) ? 'is not valid' : reasonOf(explain.errors ?? []);
  };
}

/** The errors come field by field in the order of the schema, except that missing fields come before all others. */
function reasonOf(errors: readonly ErrorObject[]): string {
  // One value can break several rules; the sender counts the fields that have to be corrected.
  const messages = new Map<string, string>();
  for (const error of errors) {
    const { pointer, message } = wordError(error);
    if (!messages.has(pointer)) messages.set(pointer, message);
  }
  const problems = new ItemProblems();
  for (const [pointer, message] of [...messages].sort(([a], [b]) => rank(a) - rank(b)))
    problems.add(pointer, message);
  return problems.reason ?? 'is not valid';
}

const HEADER_FIELDS = Object.keys(TraceHeaderSchema.properties);
const SPAN_FIELDS = Object.keys(SpanSchema.properties);

/** Sorts pointers in the order of the documentation: the header, then span by span. */
function rank(pointer: string): number {
  const [, part, first, second] = pointer.split('/');
  if (part === 'trace') return HEADER_FIELDS.indexOf(first ?? '');
  return (Number(first ?? 0) + 1) * 100 + SPAN_FIELDS.indexOf(second ?? '');
}

function compile(ajv: Ajv): ValidateFunction<TraceItem> {
  ajv.addFormat('uuid', isUuid);
  ajv.addFormat('date-time', (text) => parseTime(text) !== undefined);
  ajv.addFormat('decimal', (text) => parseMoney(text) !== undefined);
  return ajv.compile<TraceItem>(TraceItemSchema);
}
