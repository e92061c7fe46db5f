import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { resolveTarget, withApiOptions, type ApiOptions, type Target } from './api-client.js';
import { BatchSender } from './demo/batch-sender.js';
import { packBatches, type BatchBody, type RunBody } from './demo/body.js';
import { history, plannedRuns, type HistoryOptions } from './demo/history.js';
import { LiveTraffic } from './demo/live-traffic.js';
import { nextSteps } from './demo/next-steps.js';
import { type FinishedRun } from './demo/run.js';
import { sendAll } from './demo/send-all.js';
import { Poster } from './demo/poster.js';
import { linkPrompts, sendSignals, setUp } from './demo/stories.js';
import { Tally } from './demo/tally.js';
import { EXIT } from './exit-codes.js';
import type { ProcessIo } from './process-io.js';
import { ProgressLine } from './progress-line.js';
import { MS_PER_HOUR } from '../signal/time-units.js';

const CONCURRENCY = 4;
const LIVE_INTERVAL_MS = 250;
/** Time for saying that the open runs have ended, after the user has asked for the end. */
const FAREWELL_MS = 3000;
/** So much of the history is sent after alerts and webhooks were made, so that they have something to tell. */
const FRESH_MS = 3 * MS_PER_HOUR;
const DEFAULT_OTLP_PORT = '4318';

interface Options extends ApiOptions {
  readonly days: number;
  readonly runsPerDay: number;
  readonly live?: boolean;
  readonly rate: number;
  readonly seed: string;
  readonly onlyRuns?: boolean;
  readonly otlpUrl?: string;
}

/** What the parts of the command share. */
interface Session {
  readonly io: ProcessIo;
  readonly progress: ProgressLine;
  readonly target: Target;
  /** Ends at Ctrl-C. */
  readonly abort: AbortSignal;
  readonly now: () => number;
}

/** `jackdaw demo`: sends made-up agent runs to a running daemon. @param now the time, in milliseconds since the epoch */
export function demoCommand(io: ProcessIo, now: () => number = Date.now): Command {
  const command = new Command('demo')
    .description(
      'Fill a daemon with the data of a team of agents: days of runs, a prompt with versions, alerts, a broken webhook, logs and metrics, and optional live traffic. The same seed creates the same runs with the same ids, so sending it twice adds nothing.',
    )
    .option('--days <n>', 'days of history, including today; 0 for none', integer(0, 3650), 30)
    .option('--runs-per-day <n>', 'runs on an average day', integer(1, 1_000_000), 200)
    .option('--live', 'then send live traffic until interrupted')
    .option('--rate <n>', 'live runs begun per minute', positive, 30)
    .option('--only-runs', 'send only runs: no prompts, alerts, webhooks, logs or metrics')
    .option(
      '--otlp-url <url>',
      `where the daemon takes OTLP over HTTP, for logs and metrics (default: the host of its API, port ${DEFAULT_OTLP_PORT})`,
    )
    .option('--seed <text>', 'another seed gives other runs', 'jackdaw');
  return withApiOptions(command).action(async (options: Options) => {
    if (options.days === 0 && options.live !== true) {
      command.error("error: with '--days 0' and without '--live' there is nothing to send");
    }
    if (options.otlpUrl !== undefined && !/^https?:\/\//.test(options.otlpUrl)) {
      command.error(
        `error: '--otlp-url ${options.otlpUrl}' is not an address: use one such as http://127.0.0.1:4318`,
      );
    }
    const target = await resolveTarget(options, io);
    const progress = new ProgressLine(io);
    await untilInterrupted(io, async (abort) => {
      const session: Session = { io, progress, target, abort, now };
      try {
        if (options.days > 0) await sendHistory(session, options);
        if (options.live === true && !abort.aborted) await sendLive(session, options);
      } finally {
        progress.clear();
      }
    });
  });
}

/** Does work that the first signal asks to end; the second ends the process. */
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
  const { io, progress, target, abort, now } = session;
  const poster = new Poster(target, abort);
  const sender = new BatchSender(poster);
  const tally = new Tally();
  const startedMs = now();
  const plan: HistoryOptions = { ...options, untilMs: startedMs };
  const total = plannedRuns(plan);
  const isWhole = options.onlyRuns !== true;
  const send = async (batch: BatchBody) => {
    tally.add(batch, await sender.send(batch));
    if (isWhole) await linkPrompts(poster, batch);
    const day = batch.traces[0]?.trace.started_at.slice(0, 10) ?? '';
    progress.show(`${day}  ${count(tally.runs)} of about ${count(total)} runs, ${count(tally.spans)} spans`);
  };
  const freshMs = isWhole ? startedMs - FRESH_MS : Infinity;
  const told: string[] = [];
  try {
    if (isWhole) told.push(...(await setUp(poster, io, 'before')));
    await sendAll(packBatches(bodies(plan, (run) => run.startMs < freshMs)), CONCURRENCY, send);
    if (isWhole) {
      told.push(...(await setUp(poster, io, 'after')));
      await sendAll(packBatches(bodies(plan, (run) => run.startMs >= freshMs)), CONCURRENCY, send);
      progress.show('logs and metrics');
      told.push(...(await sendSignals(otlpPoster(session, options), io, options.seed, plan)));
    }
  } catch (error) {
    if (!abort.aborted) throw error;
  }
  progress.clear();
  const seconds = Math.max(0, now() - startedMs) / 1000;
  io.out(
    `${abort.aborted ? 'Interrupted. ' : ''}Sent ${count(tally.runs)} runs of ${tally.agents} agents with ${count(tally.spans)} spans in ${seconds.toFixed(1)} s, seed "${options.seed}". Sending the same seed again adds only what has happened since.`,
  );
  if (told.length > 0) io.out(`With them: ${told.join('; ')}.`);
  warnOfRejected(io, tally);
  io.out(nextSteps(target, tally.failedTraceId));
}

/** Where logs and metrics go. */
function otlpPoster({ target, abort }: Session, { otlpUrl }: Options): Poster {
  const url = new URL(target.url);
  url.port = DEFAULT_OTLP_PORT;
  return new Poster({ ...target, url: otlpUrl?.replace(/\/+$/, '') ?? url.origin }, abort);
}

async function sendLive(session: Session, options: Options): Promise<void> {
  const { io, progress, target, abort, now } = session;
  const sender = new BatchSender(new Poster(target, abort));
  const tally = new Tally();
  const traffic = new LiveTraffic({ seed: options.seed, startMs: now(), runsPerMinute: options.rate });
  io.out(`Live: about ${options.rate} runs begin each minute. Ctrl-C ends it.`);
  try {
    for (;;) {
      for (const batch of packBatches(traffic.news(now()))) tally.add(batch, await sender.send(batch));
      progress.show(
        `live  ${count(traffic.started)} runs begun, ${traffic.underWay} under way, ${count(tally.spans)} spans sent`,
      );
      await sleep(LIVE_INTERVAL_MS, undefined, { signal: abort });
    }
  } catch (error) {
    if (!abort.aborted) throw error;
  }
  // What is still open would stay `running` for ever.
  const farewell = new BatchSender(new Poster(target, AbortSignal.timeout(FAREWELL_MS)));
  for (const batch of packBatches(traffic.cancel(now()))) tally.add(batch, await farewell.send(batch));
  progress.clear();
  io.out(`Sent ${count(traffic.started)} live runs with ${count(tally.spans)} spans.`);
  warnOfRejected(io, tally);
}

function* bodies(plan: HistoryOptions, isWanted: (run: FinishedRun) => boolean): Generator<RunBody> {
  for (const run of history(plan)) if (isWanted(run)) yield run.body;
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
