import { meanCost, sumToNumber } from '../../../signal/money.js';
import type { Micros } from '../../../signal/time.js';
import type { PromptLink, PromptRuns, Prompts, PromptVersionStats } from '../../contracts/prompts.js';
import { PendingLinks } from '../../shared/pending-links.js';
import type { RunQueue } from '../runs/run-queue.js';
import type { Row } from '../client/connection.js';
import { uuidIn } from '../client/literals.js';
import type { Reads } from '../client/reads.js';
import { countPending } from '../runs/prompt-links.js';
import { numberOf } from '../../shared/summaries-of-rows.js';

export interface PromptReadParts {
  readonly reads: Reads;
  readonly queue: Pick<RunQueue, 'write'>;
  readonly prompts: Pick<Prompts, 'findNumber' | 'numbersOf'>;
  readonly tenantOf: (userId: string) => Promise<number>;
}

/** The contract `PromptRuns`. A link is a message of its run; the rows of runs list the versions used. */
export class PromptReads implements PromptRuns {
  readonly #parts: PromptReadParts;
  readonly #pending = new PendingLinks(async (tenant) => await countPending(this.#parts.reads, tenant));

  constructor(parts: PromptReadParts) {
    this.#parts = parts;
  }

  async link(userId: string, link: PromptLink, now: Micros): Promise<boolean> {
    const { prompts, queue, tenantOf } = this.#parts;
    const prompt = await prompts.findNumber(userId, link.prompt_name, link.prompt_version);
    if (prompt === null) return false;
    const [tenant, traceId] = [await tenantOf(userId), uuidIn(link.trace_id)];
    if (traceId === null) return false;
    await this.#pending.take(tenant);
    await queue.write({ kind: 'message', tenant, traceId, at: now, message: { kind: 'link', prompt } });
    return true;
  }

  async compare(
    userId: string,
    name: string,
    abort?: AbortSignal,
  ): Promise<readonly PromptVersionStats[] | null> {
    const versions = await this.#parts.prompts.numbersOf(userId, name);
    if (versions.length === 0) return null;
    const numbers = versions.map(({ number }) => number).join(', ');
    const rows = await this.#parts.reads.rows(
      `SELECT arrayJoin(prompts) AS prompt, count() AS total_traces, countIf(success) AS success_count, countIf(NOT success) AS failure_count,
         count(total_cost_usd) AS priced, toString(ifNull(sum(toInt128(total_cost_usd)), 0)) AS cost, avg(duration_ms) AS avg_latency_ms, quantileExactInclusiveOrNull(0.95)(duration_ms) AS p95_latency_ms
       FROM runs FINAL WHERE tenant = ${await this.#parts.tenantOf(userId)} AND hasAny(prompts, [${numbers}]) GROUP BY prompt`,
      abort,
    );
    const found = new Map(rows.map((row) => [Number(row.prompt), row]));
    return versions.map(({ number, version }) => stats(version, found.get(number)));
  }
}

/** @param row undefined if no run used the version */
function stats(version: number, row: Row | undefined): PromptVersionStats {
  const priced = Number(row?.priced ?? 0);
  return {
    version,
    total_traces: Number(row?.total_traces ?? 0),
    success_count: Number(row?.success_count ?? 0),
    failure_count: Number(row?.failure_count ?? 0),
    avg_cost: priced === 0 ? null : meanCost(sumToNumber(BigInt(String(row?.cost))), priced),
    avg_latency_ms: numberOf(row?.avg_latency_ms),
    p95_latency_ms: numberOf(row?.p95_latency_ms),
  };
}
