import { parseJson } from '../../src/signal/json.js';
import type { JsonValue } from '../../src/signal/attributes.js';
import { readProjectFile } from './project-file.js';

/** A value with content to redact. */
export interface TrueExample {
  readonly kind: string;
  readonly value: JsonValue;
  /** The texts that must be removed. */
  readonly gone: readonly string[];
}

/** A similar value that must be kept. */
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
