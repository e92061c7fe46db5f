import { storableIdentity } from '../../../signal/run-context.js';
import type { Page, PageRange } from '../../contracts/paging.js';
import type {
  RepositorySummary,
  SessionFilter,
  Sessions,
  SessionSummary,
  StoredScore,
  UserFilter,
  UserSummary,
} from '../../contracts/runs.js';
import type { Agents } from '../stats/agents.js';
import type { ReadContext, Served } from '../segments/read-context.js';
import { readSessionScores } from './scores.js';
import { findRepositories, findSessions, findUsers, sessionsOf } from './sessions.js';

/** The contract `Sessions` in the store thread. */
export class SessionReads implements Served<Sessions> {
  readonly #agents: Agents;

  constructor(agents: Agents) {
    this.#agents = agents;
  }

  async list(
    { tenant, long }: ReadContext,
    filter: SessionFilter,
    page: PageRange,
  ): Promise<Page<SessionSummary>> {
    return await long(async (connection, capture) => {
      const { ids, count } = await findSessions(connection, capture, this.#agents, tenant, filter, page);
      const items = await sessionsOf(connection, capture, this.#agents, tenant, ids, filter.kind);
      return { items, count };
    });
  }

  async read(
    { tenant, short }: ReadContext,
    sessionId: string,
    { kind }: Pick<SessionFilter, 'kind'>,
  ): Promise<SessionSummary | null> {
    return await short(async (connection, capture) => {
      const ids = [storableIdentity(sessionId)];
      const [found] = await sessionsOf(connection, capture, this.#agents, tenant, ids, kind);
      return found ?? null;
    });
  }

  async scores({ tenant, short }: ReadContext, sessionId: string): Promise<readonly StoredScore[]> {
    const id = storableIdentity(sessionId);
    return await short((connection, capture) => readSessionScores(connection, capture, tenant, id));
  }

  async users(
    { tenant, long }: ReadContext,
    filter: UserFilter,
    page: PageRange,
  ): Promise<Page<UserSummary>> {
    return await long((connection, capture) =>
      findUsers(connection, capture, this.#agents, tenant, filter, page),
    );
  }

  async repositories(
    { tenant, long }: ReadContext,
    filter: SessionFilter,
    page: PageRange,
  ): Promise<Page<RepositorySummary>> {
    return await long((connection, capture) =>
      findRepositories(connection, capture, this.#agents, tenant, filter, page),
    );
  }
}
