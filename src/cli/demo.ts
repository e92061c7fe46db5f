import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { resolveTarget, withApiOptions, type ApiOptions, type Target } from './api-client.js';
import { packBatches, type BatchBody, type RunBody } from './demo/body.js';
import { LiveTraffic } from './demo/live.js';
import { Poster, type BatchReceipt } from './demo/poster.js';
import {
  history,
  readRecording,
  type HistoryOptions,
  type PlayedRun,
  type Recording,
} from './demo/recording.js';
import { aboutOwnTelemetry, linkPrompts, setUp } from './demo/set-up.js';
import { sendSignals } from './demo/signals.js';
import { EXIT } from './exit-codes.js';
import type { ProcessIo } from './io.js';
import { ProgressLine } from './progress-line.js';
import { MS_PER_HOUR } from '../signal/time-units.js';

const CONCURRENCY = 4;
const LIVE_INTERVAL_MS = 250;
/** Time limit for ending the open runs after an interrupt. */
const FAREWELL_MS = 3000;
/** This part of the history is sent after alerts and webhooks were created, so that they have data to act on. */
const FRESH_MS = 3 * MS_PER_HOUR;

interface Options extends ApiOptions {
  readonly days: number;
  readonly runsPerDay: number;
  readonly live?: boolean;
  readonly rate: number;
  readonly onlyRuns?: boolean;
  readonly otlpUrl?: string;
}

/** State shared by the steps of the command. */
interface Session {
  readonly io: ProcessIo;
  readonly progress: ProgressLine;
  readonly target: Target;
  readonly recording: Recording;
  /** All ids are derived from it. */
  readonly key: string;
  /** Aborted by Ctrl-C. */
  readonly abort: AbortSignal;
  readonly now: () => number;
}

/**
 * `jackdaw demo`: sends a recorded month of ten agents to a running daemon, shifted so that it ends now.
 *
 * @param now the time, in milliseconds since the epoch
 */
export function demoCommand(io: ProcessIo, now: () => number = Date.now): Command {
  const command = new Command('demo')
    .description(
      'Fill a daemon with a recorded month of ten agents that ends now: runs, a prompt with versions, alerts, a broken webhook, logs and metrics, and optional live traffic. The last 24 hours contain an incident, a prompt version that resolves less and a release that costs more. The runs get new ids each time, so sending twice adds them twice.',
    )
    .option('--days <n>', 'days of history, today included; 0 for none', integer(0, 3650), 30)
    .option('--runs-per-day <n>', 'runs on an average day', integer(1, 1_000_000), 200)
    .option('--live', 'then send live traffic until interrupted')
    .option('--rate <n>', 'live runs per minute', positive, 30)
    .option('--only-runs', 'send runs only: no prompts, alerts, webhooks, logs and metrics')
    .option(
      '--otlp-url <url>',
      'OTLP/HTTP address of the daemon, for logs and metrics (default: /api/v1/otlp at the address of its API)',
    )
    .option(
      '--seed <text>',
      'no effect any more, because the runs are recorded; accepted until the next release',
    );
  return withApiOptions(command).action(async (options: Options) => {
    if (options.days === 0 && options.live !== true) {
      command.error("error: with '--days 0' and without '--live' there is nothing to send");
    }
    if (options.otlpUrl !== undefined && !/^https?:\/\//.test(options.otlpUrl)) {
      command.error(
        `error: '--otlp-url ${options.otlpUrl}' is not a URL: use one such as http://127.0.0.1:4318`,
      );
    }
    const target = await resolveTarget(options, io);
    const progress = new ProgressLine(io);
    const recording = readRecording();
    await untilInterrupted(io, async (abort) => {
      const session: Session = { io, progress, target, recording, key: randomUUID(), abort, now };
      try {
        if (options.days > 0) await sendHistory(session, options);
        if (options.live === true && !abort.aborted) await sendLive(session, options);
      } finally {
        progress.clear();
      }
    });
  });
}

/** Runs work that the first signal aborts; the second signal ends the process. */
async function untilInterrupted(io: ProcessIo, work: (abort: AbortSignal) => Promise<void>): Promise<void> {
  const interrupt = new AbortController();
  const endSignals = io.onSignal((name) => {
    if (interrupt.signal.aborted) io.exitNow(name === 'SIGINT' ? EXIT.secondSigint : EXIT.secondSigterm);
    interrupt.abort();
  });
  try {
    await work(interrupt.signal);
  } finally {
    endSignals();
  }
}

async function sendHistory(session: Session, options: Options): Promise<void> {
  const { io, progress, target, recording, key, abort, now } = session;
  const { prompt } = recording;
  const poster = new Poster(target, abort);
  const tally = new Tally();
  const startedMs = now();
  const plan: HistoryOptions = { ...options, untilMs: startedMs, key };
  const isWhole = options.onlyRuns !== true;
  const send = async (batch: BatchBody) => {
    tally.add(batch, await poster.sendBatch(batch));
    if (isWhole) await linkPrompts(poster, batch, prompt);
    const day = batch.traces[0]?.trace.started_at.slice(0, 10) ?? '';
    const about = count(options.days * options.runsPerDay);
    progress.show(`${day}  ${count(tally.runs)} of about ${about} runs, ${count(tally.spans)} spans`);
  };
  const sendRuns = async (isWanted: (run: PlayedRun) => boolean) => {
    await sendAll(packBatches(bodies(history(recording, plan), isWanted)), CONCURRENCY, send);
  };
  const freshMs = isWhole ? startedMs - FRESH_MS : Infinity;
  const made: string[] = [];
  let ownTelemetry: string | undefined;
  try {
    if (isWhole) made.push(...(await setUp(poster, io, prompt, 'before')));
    await sendRuns((run) => run.startMs < freshMs);
    if (isWhole) {
      made.push(...(await setUp(poster, io, prompt, 'after')));
      await sendRuns((run) => run.startMs >= freshMs);
      progress.show('logs and metrics');
      made.push(...(await sendSignals(otlpPoster(session, options), io, recording, plan)));
      ownTelemetry = await aboutOwnTelemetry(poster);
    }
  } catch (error) {
    if (!abort.aborted) throw error;
  }
  progress.clear();
  const seconds = Math.max(0, now() - startedMs) / 1000;
  io.out(
    `${abort.aborted ? 'Interrupted. ' : ''}Sent ${count(tally.runs)} runs of ${tally.agents.size} agents with ${count(tally.spans)} spans in ${seconds.toFixed(1)} s. Sending again adds the same runs with new ids.`,
  );
  if (made.length > 0) io.out(`With them: ${made.join('; ')}.`);
  warnOfRejected(io, tally);
  io.out(nextSteps(target, tally.failedTraceId));
  if (ownTelemetry !== undefined) io.out(`\n${ownTelemetry}`);
}

function otlpPoster({ target, abort }: Session, { otlpUrl }: Options): Poster {
  const url = otlpUrl?.replace(/\/+$/, '') ?? `${target.url}/api/v1/otlp`;
  return new Poster({ ...target, url, urlSource: '--otlp-url' }, abort);
}

async function sendLive(session: Session, options: Options): Promise<void> {
  const { io, progress, target, recording, key, abort, now } = session;
  const poster = new Poster(target, abort);
  const tally = new Tally();
  const traffic = new LiveTraffic(recording, { key, startMs: now(), runsPerMinute: options.rate });
  io.out(`Live: about ${options.rate} runs begin each minute. Ctrl-C ends it.`);
  try {
    for (;;) {
      for (const batch of packBatches(traffic.pending(now())))
        tally.add(batch, await poster.sendBatch(batch));
      progress.show(
        `live  ${count(traffic.started)} runs begun, ${traffic.underWay} under way, ${count(tally.spans)} spans sent`,
      );
      await sleep(LIVE_INTERVAL_MS, undefined, { signal: abort });
    }
  } catch (error) {
    if (!abort.aborted) throw error;
  }
  // Otherwise open runs would remain `running`.
  const farewell = new Poster(target, AbortSignal.timeout(FAREWELL_MS));
  for (const batch of packBatches(traffic.cancel(now()))) tally.add(batch, await farewell.sendBatch(batch));
  progress.clear();
  io.out(`Sent ${count(traffic.started)} live runs with ${count(tally.spans)} spans.`);
  warnOfRejected(io, tally);
}

function* bodies(runs: Iterable<PlayedRun>, isWanted: (run: PlayedRun) => boolean): Generator<RunBody> {
  for (const run of runs) if (isWanted(run)) yield run.body;
}

/**
 * Suggested next commands for a shell.
 *
 * @param traceId an example run
 */
function nextSteps(target: Target, traceId: string | undefined): string {
  const needsKey = target.keySource === '--key' || target.keySource === 'JACKDAW_KEY';
  const assignment = needsKey
    ? `JACKDAW_KEY=…   # the key from ${target.keySource}`
    : `JACKDAW_KEY=$(cat ${target.keySource})`;
  const lines = [
    ['agents with their statistics', '/agents'],
    ['the latest failed runs', '/dashboard/traces?status=failed&page_size=5'],
    ...(traceId === undefined ? [] : [['one of them with its spans', `/dashboard/traces/${traceId}`]]),
    ['30 days of one agent', '/agents/{id of an agent}/stats?days=30'],
  ] as const;
  const width = Math.max(...lines.map(([, path]) => path.length));
  const api = `${target.url}/api/v1`;
  return [
    '',
    `Open it in a browser, ${target.url}/ (\`jackdaw login\` gives a link that logs you in), or use the API:`,
    `  ${assignment}`,
    ...lines.map(
      ([what, path]) =>
        `  curl -sH "Authorization: Bearer $JACKDAW_KEY" '${api}${path}'${' '.repeat(width - path.length)}  # ${what}`,
    ),
  ].join('\n');
}

/**
 * Sends items with limited concurrency.
 *
 * @throws the first failure, after all requests have ended
 */
async function sendAll<T>(
  items: Generator<T>,
  concurrency: number,
  send: (item: T) => Promise<void>,
): Promise<void> {
  // The workers share the generator; a failing worker closes it, which ends the others.
  const worker = async () => {
    for (const item of items) await send(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Counts sent and accepted items. */
class Tally {
  readonly agents = new Set<string>();
  /** Accepted runs; a run reported in parts counts once for each part. */
  runs = 0;
  spans = 0;
  rejected = 0;
  /** Why the first rejected run was rejected. */
  firstError: string | undefined;
  /** The last failed run that was sent, suggested to the user first. */
  failedTraceId: string | undefined;

  add(batch: BatchBody, receipt: BatchReceipt): void {
    for (const { trace, spans } of batch.traces) {
      this.agents.add(trace.agent);
      this.spans += spans.length;
      if (trace.status === 'failed') this.failedTraceId = trace.trace_id;
    }
    this.runs += receipt.accepted;
    this.rejected += receipt.rejected;
    this.firstError ??= receipt.errors[0]?.error;
  }
}

function warnOfRejected(io: ProcessIo, tally: Tally): void {
  if (tally.rejected === 0) return;
  io.err(
    `The daemon rejected ${count(tally.rejected)} runs; the first because of ${tally.firstError ?? '?'}`,
  );
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}

function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`);
    }
    return value;
  };
}

function positive(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0 && value <= 60_000)) {
    throw new InvalidArgumentError('It must be a number above 0, at most 60000.');
  }
  return value;
}
