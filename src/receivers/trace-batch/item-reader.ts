import { Ajv, type ValidateFunction } from 'ajv';
import { ItemProblems } from '../../component/item-problems.js';
import { isUuid } from '../../signal/ids.js';
import { parseMoney } from '../../signal/money.js';
import { parseTime } from '../../signal/time.js';
import type { TraceRecord } from '../../signal/trace.js';
import { toRecord } from './records.js';
import { TraceItemSchema, type TraceItem } from './wire-format.js';
import { wordError } from './wording.js';

/** @returns the record, or in words why the item is none. */
export type ItemReader = (item: unknown) => TraceRecord | string;

/**
 * Compiles the schema of an item, twice: one check that stops at the first error, for the good items that nearly all
 * are, and one that finds every error, to explain the bad ones.
 */
export function createItemReader(): ItemReader {
  const isItem = compile(new Ajv({ allowUnionTypes: true }));
  const explain = compile(new Ajv({ allowUnionTypes: true, allErrors: true, verbose: true }));
  return (item) => {
    if (isItem(item)) return toRecord(item);
    const problems = new ItemProblems();
    let last: string | undefined;
    if (!explain(item)) {
      for (const error of explain.errors ?? []) {
        const { pointer, message } = wordError(error);
        // One value can break several rules; the sender counts the fields to mend.
        if (pointer !== last) problems.add(pointer, message);
        last = pointer;
      }
    }
    return problems.reason ?? 'is not valid';
  };
}

function compile(ajv: Ajv): ValidateFunction<TraceItem> {
  ajv.addFormat('uuid', isUuid);
  ajv.addFormat('date-time', (text) => parseTime(text) !== undefined);
  ajv.addFormat('decimal', (text) => parseMoney(text) !== undefined);
  return ajv.compile<TraceItem>(TraceItemSchema);
}
