import type { ScoreGroup, ScoreOfRun } from '../../contracts/scores.js';
import type { Agents } from '../stats/agents.js';
import type { ReadContext } from '../segments/read-context.js';
import { TraceId } from '../segments/trace-id.js';
import { readScoreGroups, readScoresByRun, type StoredScoreRequest } from './run-scores.js';

/** The reads of the contract `Scores`. */
export class ScoreReads {
  readonly #agents: Agents;

  constructor(agents: Agents) {
    this.#agents = agents;
  }

  async groups({ tenant, long }: ReadContext, request: StoredScoreRequest): Promise<readonly ScoreGroup[]> {
    return await long(
      async (connection, capture) =>
        await readScoreGroups({ connection, capture, tenant }, this.#agents, request),
    );
  }

  async ofRuns({ tenant, short }: ReadContext, traceIds: readonly string[]): Promise<readonly ScoreOfRun[]> {
    return await short(
      async (connection, capture) =>
        await readScoresByRun(
          { connection, capture, tenant },
          traceIds.map((id) => new TraceId(id).text),
        ),
    );
  }
}
