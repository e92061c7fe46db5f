import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { packageRoot } from '../../config/package-root.js';
import { itemAt } from '../../signal/checked.js';
import { MS_PER_DAY, MS_PER_HOUR } from '../../signal/time-units.js';
import type { RunBody, SpanBody, TraceBody } from './body.js';

/** `README.md` describes the format. */
const FILE = join('src', 'cli', 'demo', 'month.jsonl.br');
/** If more runs a day are requested than were recorded, copies start within this time before the original. */
const COPIES_MS = MS_PER_HOUR;

type Given = 'trace_id' | 'started_at' | 'ended_at' | 'duration_ms' | 'total_tokens';

interface RecordedSpan {
  /** Milliseconds since the start of the run. */
  readonly start: number;
  readonly duration: number;
  readonly body: Omit<SpanBody, Given | 'span_id' | 'parent_span_id' | 'cost_usd'>;
}

interface RecordedRun {
  /** Milliseconds since the start of the recording. */
  readonly start: number;
  /** Kinds of the spans, the root span first. */
  readonly spans: readonly number[];
  /** Index of the parent in `spans`, for each span but the root. */
  readonly parents: readonly number[];
  readonly session: number;
  /** Whether the SDK sent the sums of tokens and cost. */
  readonly sums?: boolean;
  readonly trace: Omit<TraceBody, Given | 'total_cost_usd'>;
}

interface Header {
  readonly days: number;
  /** The end of the newest run, in milliseconds since the start of the recording. */
  readonly end: number;
  /** A kind is the runs of one agent, or its spans of one name. */
  readonly kinds: readonly { readonly name: string; readonly records: number }[];
  /** US dollars per million input and output tokens. */
  readonly prices: Readonly<Record<string, readonly [input: number, output: number]>>;
  readonly prompt: {
    readonly name: string;
    /** The name of the spans that use it. */
    readonly span: string;
    readonly versions: readonly { readonly template_text: string; readonly description: string }[];
  };
}

type Value = string | number | boolean | null | readonly number[];

/** A recorded month of ten agents. */
export interface Recording extends Omit<Header, 'kinds'> {
  /** In the order of their start. */
  readonly runs: readonly { readonly run: RecordedRun; readonly spans: readonly RecordedSpan[] }[];
}

/** A recorded run, shifted in time and with its own ids. */
export interface PlayedRun {
  readonly body: RunBody;
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly endMs: number;
}

/** @throws Error if the file is missing or damaged */
export function readRecording(): Recording {
  const text = brotliDecompressSync(readFileSync(join(packageRoot(), FILE))).toString();
  const [first = '', ...columns] = text.trimEnd().split('\n');
  const { kinds, ...header } = JSON.parse(first) as Header;
  const records = kinds.map((kind) => Array.from({ length: kind.records }, (): Json => ({})));
  for (const column of columns) {
    const [kind, path, values] = JSON.parse(column) as [number, (string | number)[], Value | Value[]];
    for (const [place, record] of itemAt(records, kind).entries()) {
      const value = Array.isArray(values) ? (values[place] ?? null) : values;
      if (value !== null) put(record, path, value);
    }
  }
  const taken = kinds.map(() => 0);
  const spanOf = (kind: number): RecordedSpan => {
    const place = taken[kind] ?? 0;
    taken[kind] = place + 1;
    return itemAt(itemAt(records, kind), place) as unknown as RecordedSpan;
  };
  const runs = records
    .flat()
    .filter((record) => 'spans' in record)
    .map((record) => record as unknown as RecordedRun)
    .map((run) => ({ run, spans: run.spans.map(spanOf) }))
    .sort((a, b) => a.run.start - b.run.start);
  return { ...header, runs };
}

interface Json {
  [key: string | number]: Json | Value;
}

function put(record: Json, path: readonly (string | number)[], value: Value): void {
  let at = record;
  for (const [depth, key] of path.slice(0, -1).entries())
    at = (at[key] ??= typeof path[depth + 1] === 'number' ? [] : {}) as Json;
  at[itemAt(path, path.length - 1)] = value;
}

export interface HistoryOptions {
  /** End of the newest run, in milliseconds since the epoch. */
  readonly untilMs: number;
  /** Number of UTC days, including the last one, which `untilMs` cuts short. */
  readonly days: number;
  /** On an average day. */
  readonly runsPerDay: number;
  /** All ids are derived from this text: a new text gives new ids. */
  readonly key: string;
}

/** Plays a recording, shifted so that it ends at a given time, and repeated if it has too few days. */
export function* history(recording: Recording, options: HistoryOptions): Generator<PlayedRun> {
  const { untilMs, days, runsPerDay, key } = options;
  const { runs } = recording;
  const fromMs = (Math.floor(untilMs / MS_PER_DAY) - days + 1) * MS_PER_DAY;
  const copiesOfRun = (runsPerDay * recording.days) / runs.length;
  for (let lap = Math.ceil(days / recording.days) - 1; lap >= 0; lap -= 1) {
    const lapMs = untilMs - recording.end - lap * recording.days * MS_PER_DAY;
    for (const [index, { run }] of runs.entries()) {
      const copies = Math.floor((index + 1) * copiesOfRun) - Math.floor(index * copiesOfRun);
      for (let copy = 0; copy < copies; copy += 1) {
        const startMs = lapMs + run.start - Math.round((copy / copies) * COPIES_MS);
        if (startMs >= fromMs)
          yield playRun(recording, index, startMs, `${key}/${String(lap)}/${String(copy)}`);
      }
    }
  }
}

/**
 * Plays one run of a recording.
 *
 * @param key with the index, determines the ids
 */
export function playRun(recording: Recording, index: number, startMs: number, key: string): PlayedRun {
  const { run, spans } = itemAt(recording.runs, index);
  const traceId = idOf(`${key}/${String(index)}`);
  const ids = spans.map((_, place) => idOf(`${traceId}/${String(place)}`));
  const bodies = spans.map(({ start, duration, body }, place): SpanBody => {
    const price = recording.prices[body.model ?? ''];
    const { input_tokens: input, output_tokens: output } = body;
    const parent = run.parents[place - 1];
    return {
      span_id: itemAt(ids, place),
      trace_id: traceId,
      ...(parent !== undefined && { parent_span_id: itemAt(ids, parent) }),
      ...body,
      ...timesOf(startMs + start, duration),
      ...(input !== undefined && output !== undefined && { total_tokens: input + output }),
      ...(price && { cost_usd: decimal(Math.round((input ?? 0) * price[0] + (output ?? 0) * price[1])) }),
    };
  });
  const { duration } = itemAt(spans, 0);
  const session_id = `s-${idOf(`${key}/session/${String(run.session)}`).slice(0, 8)}`;
  return {
    startMs,
    endMs: startMs + duration,
    body: {
      trace: {
        trace_id: traceId,
        ...run.trace,
        ...timesOf(startMs, duration),
        ...(run.sums && sumsOf(bodies)),
        metadata: { ...run.trace.metadata, session_id },
      },
      spans: bodies,
    },
  };
}

function timesOf(startMs: number, duration_ms: number) {
  const [started_at, ended_at] = [startMs, startMs + duration_ms].map((ms) => new Date(ms).toISOString());
  return { started_at: started_at ?? '', ended_at: ended_at ?? '', duration_ms };
}

function sumsOf(spans: readonly SpanBody[]) {
  const calls = spans.filter(({ model }) => model !== undefined);
  // An SDK without a price for one of the calls reports no total.
  const isPriced = calls.every(({ cost_usd }) => cost_usd !== undefined);
  const micros = calls.reduce((sum, { cost_usd }) => sum + Math.round(Number(cost_usd) * 1e6), 0);
  return {
    total_tokens: calls.reduce((sum, { total_tokens }) => sum + (total_tokens ?? 0), 0),
    ...(isPriced && { total_cost_usd: decimal(micros) }),
  };
}

/** Micro-USD as a decimal string with six fractional digits. */
function decimal(micros: number): string {
  return (micros / 1e6).toFixed(6);
}

/** A UUID with the format of version 4. */
function idOf(text: string): string {
  const hex = hash('sha256', text);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
