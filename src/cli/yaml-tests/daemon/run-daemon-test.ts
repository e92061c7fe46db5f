import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { ConsumeError } from '../../../component/consume-error.js';
import type { Refusal } from '../../../component/consumer.js';
import type { Factory } from '../../../component/factory.js';
import { nodeAt, type ConfigNode } from '../../../config/config-node.js';
import { durationMs } from '../../../config/duration.js';
import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import { SIGNALS } from '../../../signal/batch.js';
import type { TestedTree } from '../bench.js';
import type { Difference } from '../compare.js';
import { Items } from '../items.js';
import { judged } from '../judge.js';
import { linesOf } from '../recorded-request.js';
import { sendsOf } from '../sends.js';
import { stepsOf, type Step } from '../steps.js';
import { TestProblem } from '../test-problem.js';
import type { Case } from '../test-schema.js';
import { GoingClock } from './going-clock.js';
import { RunningDaemon } from './running-daemon.js';
import { askOf } from './send.js';
import type { Servers } from './servers.js';

/** Time limit for expected results. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 20;

/** Expectations that apply only to chains. */
const OF_CHAINS = ['processors', 'pipeline', 'exporter', 'quota'] as const;
const EXPECTED_OF_CHAINS = ['dropped', 'delivered', 'service_map', 'usage'] as const;

/** The results of a step, in addition to the daemon's own state. */
interface Got {
  readonly refused: Refusal[];
  failed: ConsumeError | undefined;
  readonly answers: JsonObject[];
}

/** Runs a test of a whole daemon. @param node of it in its file @throws TestProblem, ItemProblem */
export async function runDaemonTest(
  test: Case,
  node: ConfigNode,
  {
    servers,
    ...parts
  }: {
    readonly tree: TestedTree;
    readonly files: ReadonlyMap<string, string>;
    readonly servers: Servers;
    readonly builtin: readonly Factory[];
  },
): Promise<{ readonly differences: readonly Difference[]; readonly secrets: readonly string[] }> {
  for (const key of OF_CHAINS)
    if (test[key] !== undefined)
      throw new TestProblem([key], 'is of chains: what a daemon consists of is in its configuration');
  const steps = stepsOf(test);
  const clock = new GoingClock();
  try {
    servers.forget();
    const daemon = await RunningDaemon.start({ ...parts, clock });
    const found: Difference[] = [];
    let count = 0;
    try {
      for (const step of steps) {
        found.push(...(await runStep(test, node, step, { daemon, servers, clock, count })));
        count += Math.max(0, ...SIGNALS.map((signal) => step.input?.[signal].length ?? 0));
      }
    } finally {
      await daemon.stop();
    }
    return { differences: found, secrets: [...daemon.secrets, daemon.key] };
  } finally {
    clock.stop();
  }
}

async function runStep(
  { identity }: Case,
  node: ConfigNode,
  { path, after, input, send = [] }: Step,
  tools: {
    readonly daemon: RunningDaemon;
    readonly servers: Servers;
    readonly clock: GoingClock;
    readonly count: number;
  },
): Promise<readonly Difference[]> {
  const { daemon, servers, clock, count } = tools;
  const expected = nodeAt(node, [...path, 'expect']);
  for (const key of EXPECTED_OF_CHAINS)
    if (nodeAt(node, [...path, 'expect', key]))
      throw new TestProblem(
        [...path, 'expect', key],
        'is known of chains only: ask the daemon for it with send',
      );
  const asked = send.map((one, index) =>
    askOf(one, [...path, 'send', String(index)], (host) => daemon.addressOf(host), daemon.key),
  );
  await clock.leap(durationMs(after));
  const got: Got = { refused: [], failed: undefined, answers: [] };
  const items = new Items(clock.now(), count);
  const sender = identity ?? daemon.ends.identityOf(daemon.key);
  for (const put of input ? sendsOf(input, items, path, sender, clock) : [])
    try {
      got.refused.push(...(await put(daemon.ends)));
    } catch (error) {
      if (!(error instanceof ConsumeError)) throw error;
      got.failed = error;
    }
  const askAll = async (isRepeat: boolean): Promise<void> => {
    let at = 0;
    for (const { ask, isRead } of asked) {
      const answer = !isRepeat || isRead ? await ask() : got.answers[at];
      if (answer !== undefined) got.answers[at++] = answer;
    }
  };
  await askAll(false);
  const startedAt = performance.now();
  for (;;) {
    const received = {
      ...daemon.ends.items,
      refused: got.refused as unknown as JsonValue,
      ...(got.failed && { failed: got.failed }),
      answers: got.answers,
      requests: servers.requests,
      files: filesOf(expected, daemon),
      log: daemon.log,
    };
    const differences = judged(expected ?? nodeAt(node, path) ?? node, received, expected !== undefined);
    if (differences.length === 0 || performance.now() - startedAt > PATIENCE_MS) {
      daemon.forget();
      servers.forget();
      return differences;
    }
    await wait(PAUSE_MS);
    await askAll(true);
  }
}

/** The content of the expected files. */
function filesOf(expected: ConfigNode | undefined, { place }: RunningDaemon): JsonObject {
  const files = expected && nodeAt(expected, ['files']);
  if (files?.kind !== 'map') return {};
  return Object.fromEntries(
    [...files.entries].flatMap(([path, { node }]) => {
      try {
        const text = readFileSync(place.pathOf(path), 'utf8');
        return [[path, node.kind === 'list' ? linesOf(text) : text]];
      } catch {
        // It is not there, or a line of it is being written.
        return [];
      }
    }),
  );
}
