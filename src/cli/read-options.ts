import { InvalidArgumentError, type Command } from 'commander';
import { findAgentId } from '../api/resources/agents.js';
import { MOMENT_RULE, readMoment } from '../api/support/intervals.js';
import type { OperationCaller } from '../http/operation-call.js';
import { systemClock } from '../telemetry/system-clock.js';
import { withApiOptions, type ApiOptions } from './api-client.js';
import type { ProcessIo } from './io.js';
import { fitTable, showJson, type Column } from './table.js';
import { UsageError } from './usage-error.js';

/** Options of every command that reads telemetry. */
export interface ReadOptions extends ApiOptions {
  /** Undefined: a table on a terminal, else JSON. */
  readonly json?: boolean;
}

export interface PeriodOptions {
  readonly since?: string;
  readonly until?: string;
}

/** Adds the options of an API command, and `--json`. */
export function withReadOptions(command: Command): Command {
  return withApiOptions(command)
    .option('--json', 'print JSON; the default if standard output is not a terminal')
    .option('--no-json', 'print a table even if standard output is not a terminal');
}

/** Adds the words of a search. Commander would read `-without` as options: `-cherry` as `-c herry`. */
export function withWords(command: Command, name: '<words...>' | '[words...]'): Command {
  const parse = command.parseOptions.bind(command);
  command.parseOptions = (args) => {
    const end = args.includes('--') ? args.indexOf('--') : args.length;
    const isWord = (arg: string, at: number): boolean => at >= end || /^-[^-]./u.test(arg);
    const words = args.filter((arg, at) => at !== end && isWord(arg, at));
    return parse([...args.filter((arg, at) => !isWord(arg, at)), '--', ...words]);
  };
  return command.argument(name, 'words, "phrases", prefix* and -without');
}

/** Adds `--since` and `--until`. */
export function withPeriod(command: Command, of: string): Command {
  return command
    .option(
      '--since <time>',
      `${of} at or after this time: ISO 8601, or an age such as 90m, 24h or 7d`,
      moment,
    )
    .option('--until <time>', `${of} at or before this time`, moment);
}

/** The parameters of a period. */
export function periodOf({ since, until }: PeriodOptions): { start_time?: string; end_time?: string } {
  return {
    ...(since !== undefined && { start_time: since }),
    ...(until !== undefined && { end_time: until }),
  };
}

function moment(text: string): string {
  const time = readMoment(text, systemClock.now());
  if (time === undefined) throw new InvalidArgumentError(`It ${MOMENT_RULE}.`);
  return time;
}

/** `key=value` pairs of a repeatable option. */
export function pair(
  text: string,
  known: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new InvalidArgumentError('It must be KEY=VALUE.');
  return { ...known, [key]: value };
}

/** A number of items for `--limit`. */
export function wholeNumber(text: string): number {
  if (!/^[1-9][0-9]{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}

/**
 * The parameter of an agent given by name or id.
 *
 * @throws UsageError if no agent has that name
 */
export async function agentOf(
  agent: string | undefined,
  client: OperationCaller,
): Promise<{ readonly agent_id?: string }> {
  if (agent === undefined) return {};
  const found = await findAgentId(agent, client);
  if ('id' in found) return { agent_id: found.id };
  throw new UsageError(`--agent "${agent}" ${found.reason}; "jackdaw search" finds agents`);
}

/** What a command prints. */
interface Shown<Row> {
  /** The answer of the API. */
  readonly json: unknown;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** The sentence for an empty list. */
  readonly none: string;
  /** A sentence about what is not shown. */
  readonly more?: string | undefined;
}

/** Whether to print JSON: what `--json` and `--no-json` say, else no table outside of a terminal. */
export function isJson(io: ProcessIo, { json }: ReadOptions): boolean {
  return json ?? !io.isTerminal;
}

/** Prints an answer as JSON, or as a table that fits the terminal. */
export function show<Row>(io: ProcessIo, options: ReadOptions, shown: Shown<Row>): void {
  if (isJson(io, options)) {
    showJson(io, shown.json);
    return;
  }
  if (shown.rows.length === 0) io.err(shown.none);
  else {
    const { text, leftOut } = fitTable(shown.columns, shown.rows, io.width ?? Infinity);
    io.out(text);
    if (leftOut.length > 0)
      io.err(`Left out: ${leftOut.join(', ')}. Use a wider terminal or --json to see them.`);
  }
  if (shown.more !== undefined) io.err(shown.more);
}

const LONGEST_CELL = 60;

/** A text in one line, cut for a table. */
export function cell(text: string | null | undefined, length = LONGEST_CELL): string | null {
  if (text === null || text === undefined || text === '') return null;
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/** `1.234 s` */
export function seconds(ms: number | null): string | null {
  return ms === null ? null : `${(ms / 1000).toFixed(ms < 10_000 ? 3 : 1)} s`;
}

/** `$0.001234` */
export function dollars(usd: number | null): string | null {
  return usd === null ? null : `$${usd < 1 ? Number(usd.toPrecision(4)) : usd.toFixed(2)}`;
}
