import { NO_CONTEXT } from '../../src/signal/run-context.js';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { aFollowingRecord } from '../storage/duckdb/following-records.js';
import type {
  RepositorySummary,
  SessionFilter,
  SessionSummary,
  UserSummary,
} from '../../src/storage/contracts/runs.js';
import type { TraceHeader } from '../../src/signal/trace.js';
import { neverDiffers, same } from '../support/property.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const SESSIONS = ['s', "it's \n 1", 'Größe/%2F', 'DROP TABLE'] as const;
const AGENTS = ['planner', 'writer'] as const;

const run = fc.record({
  agent: fc.constantFrom(...AGENTS),
  session: fc.option(fc.constantFrom(...SESSIONS), { nil: undefined }),
  forUser: fc.option(fc.constantFrom('u', 'v'), { nil: undefined }),
  repository: fc.option(fc.constantFrom('acme/shop', "it's")),
  status: fc.constantFrom('completed' as const, 'failed' as const, 'timed_out' as const, 'running' as const),
  /** Commits overlap in time, and some runs share a time. */
  at: fc.nat(12),
  length: fc.option(fc.nat(5)),
  tokens: fc.option(fc.nat(100)),
  cost: fc.option(fc.integer({ min: 0, max: 4 }).map((quarters) => quarters * 250_000_000)),
});
const asked = fc.record({
  agent: fc.option(fc.constantFrom(...AGENTS), { nil: undefined }),
  user_id: fc.option(fc.constantFrom('u', 'v', 'w'), { nil: undefined }),
  since: fc.option(fc.nat(12), { nil: undefined }),
  until: fc.option(fc.nat(12), { nil: undefined }),
  offset: fc.nat(3),
  limit: fc.integer({ min: 1, max: 3 }),
});

interface Asked {
  readonly agent: string | undefined;
  readonly user_id: string | undefined;
  readonly from: number;
  readonly to: number;
}

/** The expected list, computed from all runs. */
function expectedSessions(runs: readonly TraceHeader[], { agent, user_id, from, to }: Asked): object[] {
  const matching = runs.filter(
    (one) =>
      (agent === undefined || one.agent === agent) &&
      (user_id === undefined || one.metadata?.user_id === user_id) &&
      one.started_at >= from &&
      one.started_at <= to,
  );
  const last = (id: string): number =>
    Math.max(...matching.filter(({ metadata }) => metadata?.session_id === id).map((one) => one.started_at));
  return SESSIONS.filter((id) => last(id) > -Infinity)
    .sort((a, b) => last(b) - last(a) || (Buffer.from(a).compare(Buffer.from(b)) < 0 ? -1 : 1))
    .map((id) => {
      const own = runs.filter(({ metadata }) => metadata?.session_id === id);
      const sum = (of: (one: TraceHeader) => number | null): number | null =>
        own.every((one) => of(one) === null) ? null : own.reduce((all, one) => all + (of(one) ?? 0), 0);
      const cost = sum((one) => one.total_cost_usd);
      return {
        session_id: id,
        user_ids: [
          ...new Set(own.flatMap(({ metadata }) => (metadata?.user_id as string | undefined) ?? [])),
        ].sort(),
        agents: [...new Set(own.map((one) => one.agent))].sort(),
        runs: own.length,
        failed_runs: own.filter(({ status }) => status === 'failed' || status === 'timed_out').length,
        first_at: Math.min(...own.map(({ started_at }) => started_at)),
        last_at: Math.max(...own.map(({ started_at, ended_at }) => ended_at ?? started_at)),
        total_tokens: sum((one) => one.total_tokens),
        total_cost: cost === null ? null : cost / 1e9,
      };
    });
}

/** The same for users, by cost, then runs, then id. */
function expectedUsers(runs: readonly TraceHeader[]): readonly UserSummary[] {
  return expectedGroups(runs, ({ metadata }) =>
    metadata?.user_id === undefined ? [] : [metadata.user_id as string],
  ).map(({ id, runs: count, failed_runs, sessions, last_at, total_tokens, total_cost }) => ({
    user_id: id,
    ...{ runs: count, failed_runs, sessions, last_at, total_tokens, total_cost },
  }));
}

function expectedRepositories(runs: readonly TraceHeader[]): readonly RepositorySummary[] {
  return expectedGroups(runs, ({ repository }) => (repository === null ? [] : [repository])).map(
    ({ id, ...stats }) => ({ repository: id, ...stats }),
  );
}

function expectedGroups(
  runs: readonly TraceHeader[],
  idsOf: (run: TraceHeader) => readonly string[],
): readonly (Omit<RepositorySummary, 'repository'> & { readonly id: string })[] {
  return [...new Set(runs.flatMap(idsOf))]
    .map((id) => {
      const own = runs.filter((one) => idsOf(one).includes(id));
      const sum = (of: (one: TraceHeader) => number | null): number | null =>
        own.every((one) => of(one) === null) ? null : own.reduce((all, one) => all + (of(one) ?? 0), 0);
      const cost = sum((one) => one.total_cost_usd);
      return {
        id,
        users: new Set(own.flatMap(({ metadata }) => (metadata?.user_id as string | undefined) ?? [])).size,
        runs: own.length,
        failed_runs: own.filter(({ status }) => status === 'failed' || status === 'timed_out').length,
        sessions: new Set(own.flatMap(({ metadata }) => (metadata?.session_id as string | undefined) ?? []))
          .size,
        last_at: Math.max(...own.map(({ started_at }) => started_at)),
        total_tokens: sum((one) => one.total_tokens),
        total_cost: cost === null ? null : cost / 1e9,
      };
    })
    .sort((a, b) => (b.total_cost ?? -1) - (a.total_cost ?? -1) || b.runs - a.runs || (a.id < b.id ? -1 : 1));
}

/** Orders ties deterministically. */
function shown(session: SessionSummary): object {
  return {
    ...session,
    user_ids: [...session.user_ids].sort(),
    agents: session.agents.map(({ name }) => name).sort(),
  };
}

function checkSessions(t: Test, open: OpenTelemetry): void {
  void t.test('sessions match all runs, page by page, in any segment', async (t) => {
    const opened = await open(t, { fileRows: 12 });
    await neverDiffers(
      t,
      { runs: 15, ms: 2500 },
      [
        fc.array(fc.array(run, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 15 }),
        fc.array(asked, { minLength: 3, maxLength: 8 }),
      ],
      async (commits, questions) => {
        const user = await opened.addUser();
        const runs: TraceHeader[] = [];
        for (const [i, commit] of commits.entries()) {
          const made = commit.map(
            ({ agent, session, forUser, repository, status, at, length, tokens, cost }) => {
              const started_at = NOON + (at + i) * 1000;
              return aHeader({
                agent,
                status,
                repository,
                started_at,
                ended_at: length === null ? null : started_at + length,
                total_tokens: tokens,
                total_cost_usd: cost,
                metadata: {
                  ...(session === undefined ? {} : { session_id: session }),
                  ...(forUser === undefined ? {} : { user_id: forUser }),
                },
              });
            },
          );
          runs.push(...made);
          const items = made.map((trace) => ({ trace, spans: [] }));
          await opened.store.writer.traces({ tenant: user, items }, { receivedAt: NOON });
          // A newer version of an earlier run, which counts once.
          const earlier = runs[i];
          if (earlier !== undefined && i % 3 === 0)
            await opened.store.runs.setOutcome(user, earlier.trace_id, { success: true });
        }
        const agents = await opened.store.agents.list(user);
        for (const { agent, user_id, since, until, offset, limit } of questions) {
          const agent_id = agents.find(({ name }) => name === agent)?.id;
          if (agent !== undefined && agent_id === undefined) continue;
          const [from, to] = [NOON + (since ?? -1) * 1000, NOON + (until ?? 99) * 1000];
          const filter: SessionFilter = {
            ...(agent_id === undefined ? {} : { agent_id }),
            ...(user_id === undefined ? {} : { user_id }),
            ...(since === undefined ? {} : { start_time: from }),
            ...(until === undefined ? {} : { end_time: to }),
          };
          const { items, count } = await opened.store.sessions.list(user, filter, { offset, limit });
          const expected = expectedSessions(runs, { agent, user_id, from, to });
          same([items.map(shown), count], [expected.slice(offset, offset + limit), expected.length]);
        }
        const all = expectedSessions(runs, { agent: undefined, user_id: undefined, from: 0, to: Infinity });
        for (const expected of all) {
          const { session_id } = expected as SessionSummary;
          const found = await opened.store.sessions.read(user, session_id, {});
          same(found && shown(found), expected);
          const { items } = await opened.store.runs.list(
            user,
            { session_id, oldest_first: true },
            { offset: 0, limit: 100 },
          );
          same(items.length, found?.runs);
          same(
            [...items.map(({ started_at }) => started_at)].sort(),
            items.map(({ started_at }) => started_at),
          );
        }
        same(await opened.store.sessions.read(user, 'nobody', {}), null);
        const [since, until] = [NOON + 2000, NOON + 9000];
        const users = expectedUsers(
          runs.filter(({ started_at }) => started_at >= since && started_at <= until),
        );
        const filter = { start_time: since, end_time: until };
        same(await opened.store.sessions.users(user, filter, { offset: 0, limit: 50 }), {
          items: users,
          count: users.length,
        });
        same(await opened.store.sessions.users(user, filter, { offset: 1, limit: 1 }), {
          items: users.slice(1, 2),
          count: users.length,
        });
        const [first] = users;
        const part = first?.user_id.slice(1) ?? 'nobody';
        const named = users.filter(({ user_id: id }) => id.toLowerCase().includes(part.toLowerCase()));
        const query = part.toUpperCase();
        same(await opened.store.sessions.users(user, { ...filter, query }, { offset: 0, limit: 50 }), {
          items: named,
          count: named.length,
        });
        const repository = 'acme/shop';
        const onIt = expectedUsers(runs.filter((one) => one.repository === repository));
        same(await opened.store.sessions.users(user, { repository }, { offset: 0, limit: 50 }), {
          items: onIt,
          count: onIt.length,
        });
        const repositories = expectedRepositories(
          runs.filter(({ started_at }) => started_at >= since && started_at <= until),
        );
        for (const offset of [0, 1])
          same(await opened.store.sessions.repositories(user, filter, { offset, limit: 9 }), {
            items: repositories.slice(offset),
            count: repositories.length,
          });
      },
    );
  });

  void t.test('a run belongs only to the session of its spans', async (t) => {
    const opened = await open(t);
    const [user, other] = [await opened.addUser(), await opened.addUser()];
    const [id, root] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
    const write = (part: Parameters<typeof aSpanRecord>[1]): Promise<unknown> =>
      opened.store.writer.traces(
        { tenant: user, items: [aFollowingRecord([aSpanRecord(id, part)])] },
        { receivedAt: NOON },
      );
    const session = (session_id: string) => ({ ...NO_CONTEXT, session_id });
    await write({
      parent_span_id: root,
      started_at: NOON + 2,
      context: session('of a step'),
      run_kind: 'other',
    });
    t.match(await opened.store.sessions.list(user, { kind: 'other' }, { offset: 0, limit: 5 }), {
      count: 1,
      items: [{ session_id: 'of a step', runs: 1 }],
    });
    t.match(await opened.store.sessions.list(user, { kind: 'agent' }, { offset: 0, limit: 5 }), { count: 0 });
    await opened.reopen();
    await write({ span_id: root, started_at: NOON, context: session('of the root'), run_kind: 'agent' });
    t.equal(await opened.store.sessions.read(user, 'of a step', {}), null);
    t.match(await opened.store.sessions.read(user, ' of the root ', { kind: 'agent' }), { runs: 1 });
    t.equal(await opened.store.sessions.read(other, 'of the root', {}), null);
    t.match(await opened.store.sessions.list(user, {}, { offset: 5, limit: 5 }), { count: 1, items: [] });
  });
}

await onEveryTelemetry(t, checkSessions);
