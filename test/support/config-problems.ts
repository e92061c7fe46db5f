import { ConfigError, formatProblem } from '../../src/config/config-error.js';
import type { Environment } from '../../src/config/environment.js';
import { prepare, type Prepared } from '../../src/pipeline/prepare.js';
import { EngineComponents } from './engine-components.js';

/** Files of a test by name, and its environment variables. */
export interface TestEnvironment {
  readonly variables?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

export function environmentOf({ variables = {}, files = {} }: TestEnvironment): Environment {
  return {
    variables,
    readFile: (path) => {
      const text = files[path];
      if (text === undefined) throw new Error('no such file');
      return text;
    },
  };
}

/** Prepares texts, named `a.yaml`, `b.yaml`, …, with the components of engine tests. */
export async function prepareTexts(
  texts: readonly string[],
  environment: TestEnvironment = {},
): Promise<Prepared> {
  const sources = texts.map((text, index) => ({ file: `${String.fromCharCode(97 + index)}.yaml`, text }));
  return prepare(sources, environmentOf(environment), new EngineComponents().factories);
}

/** @returns the lines shown to a user; empty for a valid configuration. */
export async function problemsOf(
  texts: readonly string[],
  environment: TestEnvironment = {},
): Promise<readonly string[]> {
  try {
    await prepareTexts(texts, environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(formatProblem);
    throw error;
  }
}

/** A minimal pipeline for a test. */
export const PIPELINE = `
receivers: { source: {} }
exporters: { sink: {} }
service:
  extensions: [thing]
  pipelines:
    traces: { receivers: [source], exporters: [sink] }
`;
