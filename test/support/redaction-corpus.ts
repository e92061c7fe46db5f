import { parseJson } from '../../src/signal/json.js';
import type { JsonValue } from '../../src/signal/attributes.js';
import { readProjectFile } from './project-file.js';

/** A value with something in it that must go. */
export interface TrueExample {
  readonly kind: string;
  readonly value: JsonValue;
  /** The texts that must not be there afterwards. */
  readonly gone: readonly string[];
}

/** A value that looks like one of a kind, and must stay as it is. */
export type FalseExample = Omit<TrueExample, 'gone'>;

export function trueExamples(): readonly TrueExample[] {
  return read('true') as unknown as TrueExample[];
}

export function falseExamples(): readonly FalseExample[] {
  return read('false') as unknown as FalseExample[];
}

function read(name: string): JsonValue[] {
  return readProjectFile(`test/testdata/redaction/${name}-examples.jsonl`)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJson(line));
}
