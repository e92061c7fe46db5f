import type { CliIo } from '../io.js';
import { explain } from './batch-sender.js';
import type { BatchBody } from './body.js';
import { history, type HistoryOptions } from './history.js';
import type { Poster } from './poster.js';
import { promptUsage } from './stories/reply-prompt.js';
import { makeAlerts, makePrompts, makeWebhooks } from './stories/set-up.js';
import { logsOf, metricsOf, wholeHours, type SignalsRequest } from './stories/signals.js';
import { MS_PER_HOUR } from '../../signal/time-units.js';

/** A batch is known as a repeat for a day: of what is older, a second demo would send everything twice. */
const HOURS_OF_SIGNALS = 20;

type Warnings = Pick<CliIo, 'err'>;

/** What is made before the runs are sent, and what once the agents are known by them. */
const MAKERS = { before: [makePrompts], after: [makeWebhooks, makeAlerts] } as const;

/**
 * Makes what is around the runs: a prompt, a webhook, alerts. What a key may not make is left out, and said.
 *
 * @returns what is there now, in words
 */
export async function setUp(poster: Poster, io: Warnings, when: keyof typeof MAKERS): Promise<string[]> {
  const there: string[] = [];
  for (const make of MAKERS[when]) {
    const { what, problem } = await make(poster);
    if (problem === undefined) there.push(what);
    else io.err(`Without ${what}: ${problem}`);
  }
  return there;
}

/** Says by which version of a prompt runs were made, where they were made by one. */
export async function linkPrompts(poster: Poster, { traces }: BatchBody): Promise<void> {
  for (const run of traces) {
    const body = promptUsage(run);
    // Where it may not, the prompt could not be made either, and that was said.
    if (body !== undefined)
      await poster.send({ method: 'POST', path: '/api/v1/dashboard/prompts/usage', body });
  }
}

/**
 * Sends logs and metrics of the last hours by OTLP/JSON. Where nothing takes them, the demo goes on without, and says so.
 *
 * @returns what was sent, in words
 */
export async function sendSignals(
  poster: Poster,
  io: Warnings,
  seed: string,
  plan: HistoryOptions,
): Promise<string[]> {
  try {
    for (const request of signalsOf(seed, plan)) {
      const headers = { 'jackdaw-batch-id': request.batchId };
      const answer = await poster.send({ method: 'POST', path: request.path, body: request.body, headers });
      if (!answer.ok) throw new Error(explain(poster, answer, 'send logs and metrics', 'write'));
    }
    return [`logs and metrics of ${String(HOURS_OF_SIGNALS)} hours`];
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') throw error;
    io.err(`Without logs and metrics: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}

function* signalsOf(seed: string, plan: HistoryOptions): Generator<SignalsRequest> {
  const hours = wholeHours(plan.untilMs, HOURS_OF_SIGNALS);
  const [firstMs = 0] = hours;
  const runs = [...history({ ...plan, days: 2 })].filter(({ startMs }) => startMs >= firstMs);
  for (const hourMs of hours) {
    // Runs are told of in the hour in which they began, of which some end later.
    const ofHour = runs.filter(({ startMs }) => startMs >= hourMs && startMs < hourMs + MS_PER_HOUR);
    const logs = logsOf(
      seed,
      hourMs,
      ofHour.map(({ body }) => body),
    );
    if (logs) yield logs;
    yield metricsOf(seed, hourMs);
  }
}
