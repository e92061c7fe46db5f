import { topmost } from '../../runs/rules/header-of-spans.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { serializeJson } from '../../signal/json.js';
import type { SpanRecord } from '../../signal/span.js';
import type { TraceRecord } from '../../signal/trace.js';

const VARIABLE = /\{\{\s*([^{}\s]+)\s*\}\}/g;
const NAMES = ['input', 'output', 'error', 'agent', 'name'];
const METADATA = 'metadata.';

/** The variables of prompts, for messages. */
export const VARIABLES = [...NAMES, `${METADATA}KEY`].join(', ');

/** The variables of a prompt that do not exist. */
export function unknownVariables(prompt: string): readonly string[] {
  const names = [...prompt.matchAll(VARIABLE)].map(([, name = '']) => name);
  return [...new Set(names.filter((name) => !NAMES.includes(name) && !name.startsWith(METADATA)))];
}

/**
 * A prompt with the values of a run or of one of its spans. Variables inside of values are not replaced.
 *
 * @param span null for the run as a whole
 * @param maxLength characters of a value
 */
export function renderPrompt(
  prompt: string,
  run: TraceRecord,
  span: SpanRecord | null,
  maxLength: number,
): string {
  const values = valuesOf(run, span);
  return prompt.replaceAll(VARIABLE, (_, name: string) => {
    const value = name.startsWith(METADATA)
      ? run.trace.metadata?.[name.slice(METADATA.length)]
      : values[name]?.();
    return withoutMiddle(readable(value ?? null), maxLength);
  });
}

type Values = Readonly<Record<string, () => JsonValue | undefined>>;

function valuesOf(run: TraceRecord, span: SpanRecord | null): Values {
  return {
    input: () => (span === null ? runInput(run) : span.input_data),
    output: () => (span === null ? runOutput(run) : span.output_data),
    error: () => (span ?? run.trace).error_message,
    agent: () => run.trace.agent,
    name: () => span?.name ?? topmost(run.spans)?.name,
  };
}

/** The input of the topmost span, or else the first input of a model call, or of any span. */
function runInput({ spans }: TraceRecord): JsonObject | null {
  const withInput = spans.filter(({ input_data }) => input_data !== null);
  const first = topmost(spans)?.input_data ?? withInput.find(({ type }) => type === 'llm')?.input_data;
  return first ?? withInput[0]?.input_data ?? null;
}

/** The output of the topmost span, or else the last output of a model call, or of any span. */
function runOutput({ spans }: TraceRecord): JsonObject | null {
  const withOutput = spans.filter(({ output_data }) => output_data !== null);
  const last = topmost(spans)?.output_data ?? withOutput.findLast(({ type }) => type === 'llm')?.output_data;
  return last ?? withOutput.at(-1)?.output_data ?? null;
}

/** A text unchanged, also as the only value of a map; anything else as JSON. */
function readable(value: JsonValue): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && !Array.isArray(value)) {
    const [only, ...others] = Object.values(value);
    if (typeof only === 'string' && others.length === 0) return only;
  }
  return serializeJson(value);
}

function withoutMiddle(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const half = Math.floor(maxLength / 2);
  const [start, end] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()];
  return `${start}\n[… ${text.length - 2 * half} characters left out …]\n${end}`;
}
